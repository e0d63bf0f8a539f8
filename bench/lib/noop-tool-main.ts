import { serveTools } from '../../src/sdk/serve.ts';

/** Program of a tool bundle whose one tool does nothing: what is left of a call is contextd's own share. */
serveTools([{ name: 'noop', execute: async () => ({ data: {}, streams: [] }) }]);
