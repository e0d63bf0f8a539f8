import { registerHooks } from 'node:module';

// Run before a script, with `node --import`: lets the script find the SDK that is beside this file if it has no own.

const PLACES: Readonly<Record<string, string>> = {
  '@contextd/sdk': './index.js',
  '@contextd/sdk/test': './test.js',
};

registerHooks({
  resolve(specifier, context, next) {
    const place = PLACES[specifier];
    if (place === undefined) return next(specifier, context);
    try {
      return next(specifier, context);
    } catch {
      return next(new URL(place, import.meta.url).href, context);
    }
  },
});
