import { serveTools } from '../../src/sdk/serve.ts';

/** The program of a tool bundle whose only tool does nothing: the time of a call is contextd's own share. */
serveTools([{ name: 'noop', execute: async () => ({ data: {}, streams: [] }) }]);
