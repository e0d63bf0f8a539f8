import { ContextdError } from '../core/errors.ts';
import type { UpstreamServers } from './contract.ts';

/** The servers of a daemon that has none. */
export const NO_SERVERS: UpstreamServers = {
  snapshot: async () => ({ revision: '', tools: [], byId: new Map() }),
  call: async (_project, { tool }) => {
    throw new ContextdError('HYDRATE_FAILED', `no server here offers ${tool.id}`);
  },
};
