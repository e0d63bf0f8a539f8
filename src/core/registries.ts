/** A setting of a package client that leads to a registry. Its value holds no credential. */
export interface RegistrySetting {
  /** A key of `REGISTRY_CLIENTS`. */
  readonly client: string;
  /** As the client calls it, such as `registry` or `source.crates-io.replace-with`. */
  readonly key: string;
  readonly value: string;
}

/** What a client's settings look like, and the groups of hosts whose permission covers its registries. */
interface RegistryClient {
  readonly groups: readonly string[];
  readonly keys: RegExp;
  /** Values, unless they are a URL. */
  readonly words: RegExp;
}

const NAME = '[\\w-]{1,64}';
const NO_WORDS = /^(?!)/;

export const REGISTRY_CLIENTS: Readonly<Record<string, RegistryClient>> = {
  // pnpm and bun read the same file.
  npm: { groups: ['npm'], keys: /^(?:@[a-z0-9~][a-z0-9._~-]{0,100}:)?registry$/, words: NO_WORDS },
  yarn: { groups: ['npm'], keys: /^(?:registry|npmRegistryServer)$/, words: NO_WORDS },
  pip: {
    groups: ['pypi'],
    keys: /^(?:index-url|extra-index-url|find-links|trusted-host)$/,
    words: /^[a-z0-9.-]{1,253}(?::\d{1,5})?$/i,
  },
  uv: { groups: ['pypi'], keys: new RegExp(`^(?:default|find-links|index(?:\\.${NAME})?)$`), words: NO_WORDS },
  cargo: {
    groups: ['crates'],
    keys: new RegExp(
      `^(?:source\\.${NAME}\\.(?:registry|replace-with)|registries\\.${NAME}\\.index|registry\\.default)$`,
    ),
    words: new RegExp(`^${NAME}$`),
  },
  go: {
    groups: ['go'],
    keys: /^(?:GOPROXY|GOSUMDB|GONOSUMDB|GONOPROXY|GOPRIVATE|GOINSECURE|GOFLAGS)$/,
    words: /^[\w.,|:/*+=@~? -]{1,2000}$/,
  },
  maven: {
    groups: ['maven'],
    keys: /^(?:mirror\.[\w.-]{1,64}\.(?:url|of)|repository\.[\w.-]{1,64}\.url)$/,
    words: /^[\w.*!,:-]{1,500}$/,
  },
  apt: {
    groups: ['debian', 'ubuntu'],
    keys: /^source$/,
    words: /^deb(?:-src)? (?:\[[\w=,./+ -]{1,300}\] )?https?:\/\/\S{1,500}(?: [\w./+~-]{1,100}){1,20}$/,
  },
};

const VALUE_MAX_CHARS = 2_000;
const URL_VALUE = /^(?:sparse\+)?https?:\/\/[^\s"'<>\\^`{|}]+$/;

/** Completes "The setting … cannot be used: it …"; null if it can. */
export function faultOfSetting({ client, key, value }: RegistrySetting): string | null {
  const known = Object.hasOwn(REGISTRY_CLIENTS, client) ? REGISTRY_CLIENTS[client] : undefined;
  if (known?.keys.test(key) !== true) return 'does not lead to a registry';
  if (value.length > VALUE_MAX_CHARS) return `is longer than ${VALUE_MAX_CHARS} characters`;
  const isUrl = URL_VALUE.test(value);
  if (!isUrl && !known.words.test(value)) return 'is not a URL';
  const urls = urlsIn(value);
  if (isUrl && urls.length !== 1) return 'is not a URL';
  if (urls.some(({ username, password }) => username !== '' || password !== '')) return 'holds a credential';
  return null;
}

/** The web addresses in the value of a setting. */
export function urlsIn(value: string): URL[] {
  return [...value.matchAll(/https?:\/\/[^\s,|"'\]]+/g)].flatMap(([text]) => URL.parse(text) ?? []);
}

/** A host that settings lead to. */
export interface RegistryHost {
  readonly host: string;
  /** As a rule names it: without the port if it is the usual one. */
  readonly pattern: string;
  readonly groups: readonly string[];
}

/** The hosts of settings, each once, with the groups of all clients that use it. */
export function hostsOfSettings(settings: readonly RegistrySetting[]): RegistryHost[] {
  const found = new Map<string, { host: string; groups: Set<string> }>();
  for (const { client, value } of settings) {
    for (const { hostname, host } of urlsIn(value)) {
      const known = found.get(host) ?? { host: hostname, groups: new Set() };
      for (const group of REGISTRY_CLIENTS[client]?.groups ?? []) known.groups.add(group);
      found.set(host, known);
    }
  }
  return [...found].map(([pattern, { host, groups }]) => ({ host, pattern, groups: [...groups] }));
}
