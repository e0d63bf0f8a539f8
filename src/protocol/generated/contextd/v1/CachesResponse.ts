// Original file: proto/contextd/v1/management.proto

import type { ProjectCaches as _contextd_v1_ProjectCaches, ProjectCaches__Output as _contextd_v1_ProjectCaches__Output } from '../../contextd/v1/ProjectCaches.ts';

export interface CachesResponse {
  /**
   * The largest first.
   */
  'caches'?: (_contextd_v1_ProjectCaches)[];
}

export interface CachesResponse__Output {
  /**
   * The largest first.
   */
  'caches': (_contextd_v1_ProjectCaches__Output)[];
}
