import type { Surface } from '../../core/surfaces.ts';
import { COMPACT_SURFACE } from './compact-surface.ts';
import { GATEWAY_SURFACE } from './gateway-surface.ts';
import { PASSTHROUGH_SURFACE } from './passthrough-surface.ts';
import { PROXY_SURFACE } from './proxy-surface.ts';
import type { SurfaceView } from './surface-view.ts';
import { TOOLS_SURFACE } from './tools-surface.ts';

export const SURFACE_VIEWS: Readonly<Record<Surface, SurfaceView>> = {
  tools: TOOLS_SURFACE,
  gateway: GATEWAY_SURFACE,
  compact: COMPACT_SURFACE,
  proxy: PROXY_SURFACE,
  passthrough: PASSTHROUGH_SURFACE,
};
