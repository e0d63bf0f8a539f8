// Original file: proto/plugin/grpc_broker.proto

import type * as grpc from '@grpc/grpc-js';
import type { MessageTypeDefinition, MethodDefinition } from '@grpc/proto-loader';
import type { ConnInfo as _plugin_ConnInfo, ConnInfo__Output as _plugin_ConnInfo__Output } from './grpc_broker.ts';

/**
 * GRPCBroker tells either side where a further connection, named by a number, can be dialled.
 */
export interface GRPCBrokerClient extends grpc.Client {
  StartStream(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_plugin_ConnInfo, _plugin_ConnInfo__Output>;
  StartStream(options?: grpc.CallOptions): grpc.ClientDuplexStream<_plugin_ConnInfo, _plugin_ConnInfo__Output>;
  startStream(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_plugin_ConnInfo, _plugin_ConnInfo__Output>;
  startStream(options?: grpc.CallOptions): grpc.ClientDuplexStream<_plugin_ConnInfo, _plugin_ConnInfo__Output>;

}

/**
 * GRPCBroker tells either side where a further connection, named by a number, can be dialled.
 */
export interface GRPCBrokerHandlers extends grpc.UntypedServiceImplementation {
  StartStream: grpc.handleBidiStreamingCall<_plugin_ConnInfo__Output, _plugin_ConnInfo>;

}

export interface GRPCBrokerDefinition extends grpc.ServiceDefinition {
  StartStream: MethodDefinition<_plugin_ConnInfo, _plugin_ConnInfo, _plugin_ConnInfo__Output, _plugin_ConnInfo__Output>
}

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  plugin: {
    ConnInfo: MessageTypeDefinition<_plugin_ConnInfo, _plugin_ConnInfo__Output>
    /**
     * GRPCBroker tells either side where a further connection, named by a number, can be dialled.
     */
    GRPCBroker: SubtypeConstructor<typeof grpc.Client, GRPCBrokerClient> & { service: GRPCBrokerDefinition }
  }
}
