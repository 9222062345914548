// What the guide says about itself.

const EXAMPLES = [
  "- `What is in this folder?` or `Explain this project`",
  '- `Find TODO` or `Search "upload" in src`',
  "- `Read README.md` or `Show src/main.ts from line 100`",
  "- `List src`",
  "- `How many lines of TypeScript?`",
];

const WHAT_I_AM =
  "I am the guide that is built into Troupe. I follow rules: I know a few plain requests, run real " +
  "tools on the folder of this session to answer them, and understand nothing beyond them. I need no " +
  "key and no network.";

const REAL_MODELS =
  "For questions that take understanding you will want a real model. This version of Troupe has only " +
  "me; models of a provider will be added as accounts, and chosen for each session.";

export const HELP = [WHAT_I_AM, "You can ask me:", EXAMPLES.join("\n"), REAL_MODELS].join("\n\n");

export const NOT_UNDERSTOOD = [
  "I did not understand that. I am rule-based and know only a few requests, in English:",
  EXAMPLES.join("\n"),
  REAL_MODELS,
].join("\n\n");

export const WELCOME = "You are welcome. Ask on whenever you like; `help` says what I can do.";

export const NOTHING_TO_TAKE_UP = [
  "There is no earlier request here that I understood, so I cannot take one up again. You can ask me:",
  EXAMPLES.join("\n"),
].join("\n\n");
