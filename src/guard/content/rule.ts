/** The rules of `content.ts`: what a file of a name may say and be harmless. */
export type ContentRule =
  | 'toolchain of Rust'
  | 'keys of Cargo'
  | 'keys of Gradle'
  | 'keys of Bundler'
  | 'keys of pnpm'
  | 'keys of global.json'
  | 'versions of Python'
  | 'versions'
  | 'versions by tool'
  | 'versions in TOML'
  | 'no plugins';
