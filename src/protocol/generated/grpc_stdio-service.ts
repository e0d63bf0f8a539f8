// Original file: proto/plugin/grpc_stdio.proto

import type * as grpc from '@grpc/grpc-js';
import type { MessageTypeDefinition, MethodDefinition } from '@grpc/proto-loader';
import type { Empty as _google_protobuf_Empty, Empty__Output as _google_protobuf_Empty__Output } from './google_protobuf.ts';
import type { StdioData as _plugin_StdioData, StdioData__Output as _plugin_StdioData__Output } from './grpc_stdio.ts';

/**
 * GRPCStdio carries what the plugin writes to its standard streams after the handshake. Called once.
 */
export interface GRPCStdioClient extends grpc.Client {
  StreamStdio(argument: _google_protobuf_Empty, metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientReadableStream<_plugin_StdioData__Output>;
  StreamStdio(argument: _google_protobuf_Empty, options?: grpc.CallOptions): grpc.ClientReadableStream<_plugin_StdioData__Output>;
  streamStdio(argument: _google_protobuf_Empty, metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientReadableStream<_plugin_StdioData__Output>;
  streamStdio(argument: _google_protobuf_Empty, options?: grpc.CallOptions): grpc.ClientReadableStream<_plugin_StdioData__Output>;

}

/**
 * GRPCStdio carries what the plugin writes to its standard streams after the handshake. Called once.
 */
export interface GRPCStdioHandlers extends grpc.UntypedServiceImplementation {
  StreamStdio: grpc.handleServerStreamingCall<_google_protobuf_Empty__Output, _plugin_StdioData>;

}

export interface GRPCStdioDefinition extends grpc.ServiceDefinition {
  StreamStdio: MethodDefinition<_google_protobuf_Empty, _plugin_StdioData, _google_protobuf_Empty__Output, _plugin_StdioData__Output>
}

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  google: {
    protobuf: {
      Empty: MessageTypeDefinition<_google_protobuf_Empty, _google_protobuf_Empty__Output>
    }
  }
  plugin: {
    /**
     * GRPCStdio carries what the plugin writes to its standard streams after the handshake. Called once.
     */
    GRPCStdio: SubtypeConstructor<typeof grpc.Client, GRPCStdioClient> & { service: GRPCStdioDefinition }
    StdioData: MessageTypeDefinition<_plugin_StdioData, _plugin_StdioData__Output>
  }
}
