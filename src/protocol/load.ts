import { loadPackageDefinition } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import type { ProtoGrpcType as ManagementTypes } from './generated/management.ts';
import type { ProtoGrpcType as ToolTypes } from './generated/tool.ts';
import { LOAD_OPTIONS, PROTO_FILES } from './load-options.ts';

/** The clients and service definitions of both services. */
export type Protocol = ToolTypes['contextd']['v1'] & ManagementTypes['contextd']['v1'];

/** Reads the protocol from the installation's `proto` directory. Throws when it is missing or damaged. */
export function loadProtocol(protoDir: string): Protocol {
  const definition = loadSync([...PROTO_FILES], { ...LOAD_OPTIONS, includeDirs: [protoDir] });
  // Made from the same files as the generated types, which the generator's --check holds together.
  return (loadPackageDefinition(definition) as unknown as ToolTypes & ManagementTypes).contextd.v1;
}
