import { generate, HEX } from '../sample-patterns.ts';
import { type Kind, kebab, number, one, strong, word } from './sessions.ts';

type Random = () => number;

const quiet = (random: Random): string => strong(random).replaceAll(/[!$%*]/g, '4');
const KEYS = 'SIGNING_KEY JWT_KEY ENCRYPTION_KEY SERVER_KEY SERVICE_KEY SECRET_KEY API_KEY AUTH_TOKEN'.split(' ');
const keyOf = (random: Random): string =>
  one(
    [(n: string) => n, (n: string) => n.toLowerCase(), (n: string) => `${word(random).toUpperCase()}_${n}`],
    random,
  )(one(KEYS, random));
const assigned = (name: string, value: string, random: Random): string =>
  one([`${name}=${value}\n`, `${name}: ${value}\n`, `  "${name}": "${value}",\n`, `${name} = "${value}"\n`], random);

const PATHS: readonly ((random: Random) => string)[] = [
  (r) => `/etc/ssl/${word(r)}/${generate(`${HEX}{8}`, r)}/client-key.pem`,
  (r) => `/var/lib/${word(r)}/pki/${kebab(r)}${number(1, 99, r)}.key`,
  (r) => `~/.${word(r)}/id_rsa_${word(r)}${number(1, 9, r)}`,
  (r) => `certs/${word(r)}${number(1, 9, r)}.pem`,
  (r) => `./${kebab(r)}/v${number(1, 9, r)}/k8s${number(10, 99, r)}.key`,
  (r) => `C:\\certs\\${word(r)}${number(1, 99, r)}.key`,
];
const PATH_NAMES =
  'client_key_path private_key_path tls_private_key_file ssh_key_file signing_key_location JWT_KEY_PATH API_TOKEN_FILE secret_key_filename';

const ALGORITHMS =
  'RS256 RS384 PS512 ES256 ES256K HS512 A256GCM A128KW A128CBC-HS256 ECDH-ES+A256KW RSA-OAEP-256 X25519 P-384';

const HOSTS: readonly ((random: Random) => string)[] = [
  (r) => `${word(r)}.example.com`,
  (r) => `${kebab(r)}.eu-west-${number(1, 3, r)}.example.com:${number(1024, 9999, r)}`,
  (r) => `db-0${number(1, 9, r)}.${word(r)}.example.org:5432`,
  (r) => `sts${number(2, 9, r)}.${word(r)}.example.net`,
  (r) => `10.${number(0, 255, r)}.0.${number(1, 254, r)}:8443`,
];

const PRINTS: readonly ((random: Random) => string)[] = [
  (r) => `gpg:                using RSA key ${generate('[0-9A-F]{40}', r)}\n`,
  (r) => `signing key: ${generate('[0-9A-F]{40}', r)}\n`,
  (r) => `user.signingkey=${generate('[0-9A-F]{40}', r)}\n`,
  (r) => `[user]\n\tsigningkey = ${generate('[0-9A-F]{16}', r)}\n`,
  (r) => `  signingKey: ${generate('[0-9A-F]{40}', r)}\n`,
  (r) =>
    `pub   rsa4096 2026-01-02 [SC]\n      ${generate('[0-9A-F]{40}', r)}\nuid   [ultimate] ${word(r)} <${word(r)}@example.com>\n`,
  (r) => `gpg: encrypted with rsa4096 key, ID ${generate('[0-9A-F]{16}', r)}, created 2026-01-02\n`,
];

const CACHE: readonly ((random: Random) => string)[] = [
  (r) => `cache ${one(['hit', 'miss'], r)} key=${generate(`${HEX}{32}`, r)} ttl=${number(1, 900, r)}\n`,
  (r) => `[cache] ${word(r)} key=${generate(`${HEX}{32}`, r)}\n`,
  (r) => `level=debug msg="${word(r)} from cache" key=${generate(`${HEX}{64}`, r)}\n`,
  (r) => `Cache restored from key: ${generate(`${HEX}{40}`, r)}\n`,
  (r) => `{"event":"cache.set","key":"${generate(`${HEX}{32}`, r)}","ttl":${number(1, 99, r)}}\n`,
];

/** Values beside the name of a secret that say where something is, how it is made or what it is known by. */
export const places: Kind = {
  name: 'paths, algorithms, hosts and fingerprints',
  makers: {
    'a path': (random) => ({
      texts: [assigned(one(PATH_NAMES.split(' '), random), one(PATHS, random)(random), random)],
    }),
    'an algorithm': (random) => ({ texts: [assigned(keyOf(random), one(ALGORITHMS.split(' '), random), random)] }),
    'a host': (random) => ({ texts: [assigned(keyOf(random), one(HOSTS, random)(random), random)] }),
    'a fingerprint': (random) => ({ texts: [one(PRINTS, random)(random)] }),
    'the key of a cache': (random) => ({ texts: [one(CACHE, random)(random)] }),
    'a secret that looks like one of them': (random) => ({
      texts: [
        one(
          [
            () => assigned('SIGNING_KEY', `«${one(['RS', 'ES', 'HS'], random)}256${quiet(random)}»`, random),
            () => assigned('SIGNING_KEY', `«${generate('[0-9a-f]{40}', random)}»`, random),
            () =>
              assigned(
                'DB_PASSWORD',
                `«${generate('[a-z]{2}[0-9]{2}.[a-z]{3}[0-9]{1}.[a-z0-9]{4}[0-9]{2}', random)}»`,
                random,
              ),
            () =>
              assigned(
                'API_KEY',
                `«${generate('[a-z]{3}[0-9]{3}[A-Z]{3}[a-z0-9]{8}.[A-Z]{2}[0-9]{2}[a-z0-9]{9}', random)}»`,
                random,
              ),
            () => assigned('client_key', `«${quiet(random)}${quiet(random)}»`, random),
          ],
          random,
        )(),
      ],
    }),
  },
};
