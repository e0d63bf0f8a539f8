import type { JsonObject } from '../core/json.ts';

/** An event of an agent's client, as contextd-hook read it. */
export interface ClientHook {
  readonly requestId: string;
  readonly project: string;
  /** Session named by the environment; "" if none. The event names one too. */
  readonly sessionHint: string;
  /** UTF-8 JSON. Nothing in it has been checked. */
  readonly eventJson: Buffer;
}

/** Judges or masks a call of a tool of the client's own. Null: nothing changes. Throws ContextdError: then nothing may be shown. */
export type AnswerHook = (hook: ClientHook) => Promise<JsonObject | null>;
