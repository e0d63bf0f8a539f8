/** True when running from the sources, as unit tests do: Node strips the types itself. */
const IS_SOURCE = import.meta.url.endsWith('.ts');

/** Program of a thread or process, by compiled location: `ownProgram(new URL('./main.js', import.meta.url))`. */
export function ownProgram(compiled: URL): URL {
  return IS_SOURCE ? new URL(compiled.href.replace(/\.js$/, '.ts')) : compiled;
}

/** A file that the build writes beside a compiled module: `builtFile(new URL('table.bin', import.meta.url))`. */
export function builtFile(beside: URL): URL {
  return IS_SOURCE ? new URL(beside.href.replace('/src/', '/dist/src/')) : beside;
}
