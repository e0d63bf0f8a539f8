import { systemClock, systemTimer } from '#src/core/clock.js';
import type { JsonObject } from '#src/core/json.js';
import { silentLogger } from '#src/core/log.js';
import type { McpMessage, PassedRequest, PassingClient } from '#src/core/passing.js';
import { UpstreamServer } from '#src/upstream/server.js';
import type { ServerProcess } from '#src/upstream/start-server.js';
import { startScripted } from './scripted-server.ts';

/** A client of which every question is kept until the test answers it. */
export class AskedClient implements PassingClient {
  readonly key: string;
  readonly isLegacy: boolean;
  readonly capabilities = { elicitation: { form: {} }, sampling: {}, roots: {} };
  readonly asked: { message: McpMessage; signal: AbortSignal; answer(result: JsonObject): void }[] = [];
  readonly heard: McpMessage[] = [];
  #waiting: (() => void)[] = [];

  constructor({ key = '', isLegacy = false }: { key?: string; isLegacy?: boolean } = {}) {
    this.key = key;
    this.isLegacy = isLegacy;
  }

  ask(message: McpMessage, signal: AbortSignal): Promise<JsonObject> {
    const { promise, resolve } = Promise.withResolvers<JsonObject>();
    this.asked.push({ message, signal, answer: resolve });
    for (const wake of this.#waiting.splice(0)) wake();
    return promise;
  }

  /** Resolves when it has been asked this many times. */
  async wasAsked(times = 1): Promise<void> {
    while (this.asked.length < times) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  notify(message: McpMessage): void {
    this.heard.push(message);
  }

  calls(name: string, signal = new AbortController().signal, args: JsonObject = {}): PassedRequest {
    const params = { name, arguments: args };
    return { method: 'tools/call', params, client: this, signal, notify: (message) => this.notify(message) };
  }
}

/** The scripted server as requests of clients are passed on to it; `isSession`: for one client only. */
export function passTo(mode: string, isSession: boolean) {
  const started: ServerProcess[] = [];
  const server = new UpstreamServer({
    name: 'demo',
    url: null,
    version: '1',
    idleMs: 600_000,
    graceMs: 500,
    passing: { isLegacy: isSession, capabilities: { elicitation: {}, sampling: {}, roots: {} }, onNotice() {} },
    async start() {
      const process = startScripted(mode);
      started.push(process);
      return process;
    },
    async onTools() {},
    clock: systemClock,
    timer: systemTimer,
    logger: silentLogger,
  });
  return {
    server,
    started,
    pass: (request: PassedRequest, timeoutMs = 60_000) =>
      server.use({ signal: request.signal, timeoutMs }, (session, leftMs) =>
        session.pass(request, { timeoutMs: leftMs }),
      ),
    async remove() {
      await server.stop();
      await Promise.all(started.map((process) => process.kill()));
    },
  };
}
