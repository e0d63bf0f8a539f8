import { installOf } from '../protocol/management-checks.ts';
import type { Management, RpcMethods } from '../protocol/management-contract.ts';
import { checkRequest, rpcMethods } from '../protocol/management-rpcs.ts';

/** Checks the shape and size of every management request before the daemon acts on it. Every door uses this. */
export function checkRequests(management: Management): Management {
  const methods: RpcMethods = management;
  return {
    ...rpcMethods((name) => async (request) => methods[name](checkRequest(name, request))),
    installTool: async (request, signal, send) => management.installTool(installOf(request), signal, send),
    getSchema: (tool, root) => management.getSchema(tool, root),
    watchTools: (watch) => management.watchTools(watch),
  };
}
