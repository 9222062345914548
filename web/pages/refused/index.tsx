// The daemon will not have this browser, or is not the one it knew: why, and the way in.

import { createEffect, type JSX, Match, Show, Switch } from "solid-js";
import type { WireError } from "../../../shared/protocol/errors.ts";
import { PROTOCOL_VERSION } from "../../../shared/protocol/version.ts";
import type { ConnectionState } from "../../../workers/client.ts";
import { CenteredPage } from "../../components/centered-page.tsx";
import { CopyButton } from "../../components/copy-button.tsx";
import { wordsFor } from "../../state/error-words.ts";
import { usePageTools } from "../../state/page-tools.ts";

type Refused = Extract<ConnectionState, { kind: "refused" }>;
type ChangedKey = Extract<ConnectionState, { kind: "changed-key" }>;
type Daemon = Refused["daemon"];

export default function RefusedPage(props: { state: Refused | ChangedKey }) {
  const refused = () => (props.state.kind === "refused" ? props.state : null);
  const changed = () => (props.state.kind === "changed-key" ? props.state : null);
  createEffect(() => {
    document.title = "Not connected · Troupe";
  });
  return (
    <Switch>
      <Match when={changed()}>{(state) => <KeyChanged state={state()} />}</Match>
      <Match when={refused()}>
        {(state) => <Refusal error={state().error} daemon={state().daemon} />}
      </Match>
    </Switch>
  );
}

function Refusal(props: { error: WireError; daemon: Daemon }) {
  return (
    <Switch
      fallback={
        <CenteredPage title={wordsFor(props.error).what}>
          <p class="muted under-lede">{wordsFor(props.error).todo}</p>
          <Reload />
          <WhichDaemon daemon={props.daemon} />
        </CenteredPage>
      }
    >
      <Match when={props.error.code === "not_enrolled"}>
        <WayIn
          title="This browser is not let in yet"
          text="A Troupe daemon answers here, and only devices that were let in can see its sessions. On the machine where it runs, print a link and open it here:"
          daemon={props.daemon}
        />
      </Match>
      <Match when={isOfShare(props.error)}>
        <CenteredPage title={wordsFor(props.error).what}>
          <p class="muted under-lede">
            {props.error.code === "share_full"
              ? wordsFor(props.error).todo
              : "It was taken back, or its time is up. Ask whoever sent it for a new one."}
          </p>
          <p class="quiet under-lede">
            Was this browser let in before? Reload to go on with what it could see then.
          </p>
          <Reload />
          <WhichDaemon daemon={props.daemon} />
        </CenteredPage>
      </Match>
      <Match when={props.error.code === "enrolment_invalid"}>
        <WayIn
          title="This link no longer works"
          text="It was already used, or it is older than 10 minutes. On the machine where the daemon runs, print a new one and open it here:"
          daemon={props.daemon}
        />
      </Match>
      <Match when={props.error.code === "device_revoked"}>
        <WayIn
          title="This browser's access was revoked"
          text="Somebody took it off the list of devices. To let it in again, print a link on the machine where the daemon runs and open it here:"
          daemon={props.daemon}
        />
      </Match>
      <Match when={props.error.code === "version_mismatch"}>
        <VersionMismatch error={props.error} daemon={props.daemon} />
      </Match>
    </Switch>
  );
}

/** About a link that shares a session, which the daemon's owner sent to somebody. */
const isOfShare = ({ code, details }: WireError): boolean =>
  code === "share_full" || (code === "enrolment_invalid" && details?.kind === "share");

function WayIn(props: { title: string; text: string; daemon: Daemon }) {
  return (
    <CenteredPage title={props.title}>
      <p class="muted under-lede">{props.text}</p>
      <LinkCommand />
      <WhichDaemon daemon={props.daemon} />
    </CenteredPage>
  );
}

function LinkCommand() {
  return (
    <>
      <div class="field command">
        <code>troupe link</code>
        <CopyButton label="Copy the command" text={() => "troupe link"} worded />
      </div>
      <p class="quiet under-field">
        Started from its source folder? Run <code>npm start</code> there: it prints and opens a
        link.
      </p>
    </>
  );
}

function WhichDaemon(props: { daemon: Daemon }) {
  return (
    <Show when={props.daemon}>
      {(daemon) => (
        <p class="quiet which-daemon">
          Daemon “{daemon().name}” · fingerprint <span class="fp">{daemon().fingerprint}</span>
        </p>
      )}
    </Show>
  );
}

/** Into the newest version: this one may be what the daemon does not speak with any more. */
function Reload() {
  const { update } = usePageTools();
  return (
    <button type="button" class="btn primary" onClick={() => void update.apply()}>
      Reload
    </button>
  );
}

function VersionMismatch(props: { error: WireError; daemon: Daemon }) {
  const isDaemonOlder = () => {
    const protocol = props.daemon?.protocol;
    return protocol !== undefined && protocol < PROTOCOL_VERSION;
  };
  return (
    <CenteredPage
      title={
        isDaemonOlder()
          ? "The daemon is older than this page"
          : "This page is older than the daemon"
      }
    >
      <p class="muted under-lede">
        {isDaemonOlder()
          ? "Update Troupe on the daemon's machine and start it again, then reload."
          : "Reload to get the page that came with the daemon."}{" "}
        What waits to be sent is kept.
      </p>
      <Reload />
      <WhichDaemon daemon={props.daemon} />
    </CenteredPage>
  );
}

function KeyChanged(props: { state: ChangedKey }): JSX.Element {
  return (
    <CenteredPage title="This is not the daemon this browser knows">
      <div class="problem bad" role="alert">
        <p>
          <b>The daemon's key has changed.</b> Either it was set up anew, or something else answers
          in its place. Nothing was sent to it.
        </p>
        <dl class="keys">
          <dt>Known</dt>
          <dd class="fp">{props.state.pinned}</dd>
          <dt>Offered now</dt>
          <dd class="fp">{props.state.offered}</dd>
        </dl>
      </div>
      <p class="muted under-lede">
        If you did set it up anew, compare the second fingerprint with the one it prints on its own
        machine. Only if they are the same, print a link there and open it here:
      </p>
      <LinkCommand />
    </CenteredPage>
  );
}
