// From a model's id, `provider/model`, to who serves it.

import type { Model } from "../../shared/protocol/methods.ts";
import type { Provider } from "./provider.ts";

export interface FoundModel {
  readonly provider: Provider;
  /** The model's name within the provider. */
  readonly model: string;
}

/** Null when no provider has such a model. */
export async function findModel(
  providers: readonly Provider[],
  modelId: string,
): Promise<FoundModel | null> {
  const slash = modelId.indexOf("/");
  const slug = modelId.slice(0, Math.max(0, slash));
  const provider = providers.find((each) => each.slug === slug);
  if (!provider) return null;
  const isThere = (await provider.models()).some((model) => model.id === modelId);
  return isThere ? { provider, model: modelId.slice(slash + 1) } : null;
}

export const listModels = async (providers: readonly Provider[]): Promise<Model[]> =>
  (await Promise.all(providers.map((provider) => provider.models()))).flat();
