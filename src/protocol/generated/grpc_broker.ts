import type * as grpc from '@grpc/grpc-js';
import type { MessageTypeDefinition } from '@grpc/proto-loader';

import type { ConnInfo as _plugin_ConnInfo, ConnInfo__Output as _plugin_ConnInfo__Output } from './plugin/ConnInfo.ts';
import type { GRPCBrokerClient as _plugin_GRPCBrokerClient, GRPCBrokerDefinition as _plugin_GRPCBrokerDefinition } from './plugin/GRPCBroker.ts';

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  plugin: {
    ConnInfo: MessageTypeDefinition<_plugin_ConnInfo, _plugin_ConnInfo__Output>
    /**
     * GRPCBroker tells either side where a further connection, named by a number, can be dialled.
     */
    GRPCBroker: SubtypeConstructor<typeof grpc.Client, _plugin_GRPCBrokerClient> & { service: _plugin_GRPCBrokerDefinition }
  }
}

