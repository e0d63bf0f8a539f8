// Original file: proto/contextd/v1/management.proto

import type { ListeningPort as _contextd_v1_ListeningPort, ListeningPort__Output as _contextd_v1_ListeningPort__Output } from '../../contextd/v1/ListeningPort.ts';

export interface PortsResponse {
  'ports'?: (_contextd_v1_ListeningPort)[];
}

export interface PortsResponse__Output {
  'ports': (_contextd_v1_ListeningPort__Output)[];
}
