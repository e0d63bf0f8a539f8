// Where a sandbox has what contextd gives it. The daemon passes these paths to programs that run there.

export const SANDBOX_HOME = '/home/sandbox';
export const BUNDLE_DIR = '/opt/contextd/bundle';
export const NODE_BINARY = '/opt/contextd/node';
/** Node searches this for packages, because it is in a `node_modules` next to an ancestor of the bundle. */
export const SDK_DIR = '/opt/contextd/node_modules/@contextd/sdk';
/** Where a tool process finds the directory for its sockets. */
export const SOCKET_DIR = '/run/contextd';
