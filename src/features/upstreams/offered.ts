import type { ToolAccess } from '../../catalog/tool-access.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import { promptIdOf, resourceIdOf } from '../../gateway/ids/primitive-id.ts';
import type { StoredServer } from '../../stores/upstream-servers.ts';
import type { UpstreamSnapshot } from '../../upstream/contract.ts';
import { DEFINITION_KINDS, definitionText } from '../../upstream/definitions.ts';

export type OfferKind = 'resource' | 'template' | 'prompt';

/** Which resources, templates and prompts of the servers of a project a client may see and use. */
export interface Offers {
  /** False: a person has not accepted the definition, or `gateway.access` denies it. */
  mayUse(server: StoredServer, kind: OfferKind, definition: JsonObject): boolean;
}

export function offersOf(
  project: string,
  snapshot: Pick<UpstreamSnapshot, 'resources' | 'prompts'>,
  access: Pick<ToolAccess, 'mayUsePrimitive'>,
): Offers {
  return {
    mayUse(server, kind, definition) {
      const { key, isAccepted } = DEFINITION_KINDS[kind];
      const name = definition[key];
      if (typeof name !== 'string') return false;
      if (isAccepted && !hasAccepted(server, kind, name, definition)) return false;
      const capability = kind === 'prompt' ? 'prompts' : 'resources';
      const id = idOf(server.name, kind, name, definition, snapshot);
      return access.mayUsePrimitive(project, `${server.name}:${capability}`, id);
    },
  };
}

function hasAccepted({ accepted }: StoredServer, kind: OfferKind, name: string, definition: JsonObject): boolean {
  const one = accepted?.find((offer) => offer.kind === kind && offer.name === name);
  return one !== undefined && one.text === definitionText(kind, definition);
}

/** The id under which the gateway shows it; a definition that the gateway has not seen gets the same without a number. */
function idOf(
  server: string,
  kind: OfferKind,
  name: string,
  definition: JsonObject,
  { resources, prompts }: Pick<UpstreamSnapshot, 'resources' | 'prompts'>,
): string {
  if (kind === 'prompt') {
    const known = prompts.find((one) => one.server === server && one.upstreamName === name);
    const declared = Array.isArray(definition.arguments) ? definition.arguments : [];
    const argumentNames = declared.flatMap((one) => (isJsonObject(one) ? [String(one.name)] : []));
    return known?.id ?? promptIdOf({ name, argumentNames }, server);
  }
  const isTemplate = kind === 'template';
  const known = resources.find(
    (one) =>
      one.server === server &&
      one.isTemplate === isTemplate &&
      one.uri === name &&
      one.definition.name === definition.name,
  );
  const shown = typeof definition.name === 'string' ? definition.name : '';
  return known?.id ?? resourceIdOf({ uri: name, name: shown }, server);
}
