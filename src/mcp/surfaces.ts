/** What a client sees of contextd. `tools`: each tool of the project under its own name. */
export const SURFACES = ['tools'] as const;
export type Surface = (typeof SURFACES)[number];

export function isSurface(name: string): name is Surface {
  return SURFACES.some((one) => one === name);
}
