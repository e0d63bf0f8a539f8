import { isBuiltin } from 'node:module';
import type { Plugin } from 'esbuild';

const NAMESPACE = 'builtin-module';

/**
 * Takes Node's own modules with `process.getBuiltinModule`. An `import` of one reads every name that it exports, which for
 * `node:http` alone loads undici (27 ms), and every process of contextd would pay for that at its start.
 */
export const builtinModules: Plugin = {
  name: 'builtin-modules',
  setup(building) {
    building.onResolve({ filter: /^[a-z]/ }, ({ path, kind }) =>
      kind === 'import-statement' && isBuiltin(path)
        ? { path: path.startsWith('node:') ? path : `node:${path}`, namespace: NAMESPACE, sideEffects: false }
        : undefined,
    );
    building.onLoad({ filter: /^/, namespace: NAMESPACE }, ({ path }) => ({ contents: exportsOf(path), loader: 'js' }));
  },
};

/** Marked as pure, so that only the names that are used are read. */
function exportsOf(path: string): string {
  const names = Object.keys(process.getBuiltinModule(path) ?? {}).filter((name) => name !== 'default');
  return [
    `const $module = process.getBuiltinModule('${path}');`,
    'const $read = (name) => $module[name];',
    ...names.map(
      (name, index) => `const $${index} = /* @__PURE__ */ $read('${name}'); export { $${index} as '${name}' };`,
    ),
    'export default $module;',
  ].join('\n');
}
