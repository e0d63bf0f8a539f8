/** Directories that are links into /usr if /usr is merged, otherwise mounted read-only. */
export const BESIDE_USR = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'] as const;

/** The directories of programs that every sandbox has, read-only. */
export const SYSTEM_PLACES: readonly string[] = ['/usr', ...BESIDE_USR.map((name) => `/${name}`)];
