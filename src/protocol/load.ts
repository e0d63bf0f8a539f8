import { DAEMON_DEFINITION } from './generated/daemon-definition.ts';
import type { ProtoGrpcType as ManagementTypes } from './generated/management-service.ts';
import type { ProtoGrpcType as ToolTypes } from './generated/tool-service.ts';
import { loadClients } from './load-clients.ts';

type Services = ToolTypes['contextd']['v1'] & ManagementTypes['contextd']['v1'];

/** The clients and service definitions of both services. */
export type Protocol = Pick<Services, 'ToolService' | 'ManagementService'>;

const SERVICES = {
  ToolService: 'contextd.v1.ToolService',
  ManagementService: 'contextd.v1.ManagementService',
} as const satisfies Record<keyof Protocol, string>;

let loaded: Protocol | undefined;

/**
 * The protocol of the daemon's door, from the definitions that are part of the program. Built once in a process, which
 * takes tens of milliseconds.
 */
export function loadProtocol(): Protocol {
  // The cast is safe: definition and types are generated from the same files, and the generator's --check compares them.
  loaded ??= loadClients(DAEMON_DEFINITION, SERVICES) as Protocol;
  return loaded;
}
