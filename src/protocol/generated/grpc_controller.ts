import type * as grpc from '@grpc/grpc-js';
import type { MessageTypeDefinition } from '@grpc/proto-loader';

import type { Empty as _plugin_Empty, Empty__Output as _plugin_Empty__Output } from './plugin/Empty.ts';
import type { GRPCControllerClient as _plugin_GRPCControllerClient, GRPCControllerDefinition as _plugin_GRPCControllerDefinition } from './plugin/GRPCController.ts';

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  plugin: {
    Empty: MessageTypeDefinition<_plugin_Empty, _plugin_Empty__Output>
    /**
     * GRPCController lets the host end the plugin in an orderly way.
     */
    GRPCController: SubtypeConstructor<typeof grpc.Client, _plugin_GRPCControllerClient> & { service: _plugin_GRPCControllerDefinition }
  }
}

