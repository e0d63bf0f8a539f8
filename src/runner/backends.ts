import type { ToolProgram } from '../call/tool-program.ts';
import type { ToolBackend } from './runner.ts';

/** The backend for each kind of tool. */
type Backends = {
  readonly [Kind in ToolProgram['kind']]: ToolBackend<Extract<ToolProgram, { readonly kind: Kind }>>;
};

/** Dispatches each call to the backend of its tool's kind. */
export function runByKind(backends: Backends): ToolBackend {
  const all: readonly Pick<ToolBackend, 'start' | 'stop'>[] = Object.values(backends);
  return {
    async start() {
      for (const backend of all) await backend.start();
    },
    async stop() {
      await Promise.all(all.map((backend) => backend.stop()));
    },
    run(call) {
      const { program } = call;
      switch (program.kind) {
        case 'plugin':
          return backends.plugin.run({ ...call, program });
        case 'host':
          return backends.host.run({ ...call, program });
        case 'upstream':
          return backends.upstream.run({ ...call, program });
      }
    },
  };
}
