// model.list: what a session can be given to talk to.

import { listModels } from "../providers/find-model.ts";
import type { Provider } from "../providers/provider.ts";
import { query } from "./entry.ts";

export const modelMethods = (providers: readonly Provider[]) => ({
  "model.list": query("model.list", async () => {
    const models = await listModels(providers);
    return { models, preferred: models[0]?.id ?? "" };
  }),
});
