import { ALNUM, B64, generate, HEX, URL64, UUID } from '../sample-patterns.ts';
import { camel, type Kind, kebab, one, pascal, snake, strong, title, word } from './sessions.ts';

type Random = () => number;

/** A name and a value beside it, as formats and programs write them. */
const WRITTEN: readonly ((name: string, value: string) => string)[] = [
  (n, v) => `{"items":[],"${n}":"${v}"}\n`,
  (n, v) => `  "${n}": "${v}",\n`,
  (n, v) => `${n}: ${v}\n`,
  (n, v) => `${n}=${v}\n`,
  (n, v) => `    ${n} = "${v}"\n`,
  (n, v) => `GET /v2/items?limit=50&${n}=${v} 200\n`,
  (n, v) => `curl -d '${n}=${v}' https://api.example.com/v2/items\n`,
  (n, v) => `level=info msg=done ${n}=${v} took=3ms\n`,
];

/** Names of positions, of requests and of keys that are not the keys themselves: anyone who reads an answer passes them on. */
const POSITIONS =
  'next_page_token nextPageToken page_token pageToken next_token NextToken continuation_token ContinuationToken continuationToken ' +
  'sync_token nextSyncToken cursor_token resume_token resumeToken pagination_token paginationToken next_cursor_token ' +
  'start_token marker_token idempotency_key Idempotency-Key idempotencyKey x-idempotency-key dedup_key partition_key sort_key ' +
  'routing_key foreign_key primary_key cache_key group_key';
const KEY_IDS =
  'key_id keyId kid kms_key_id KmsKeyId signing_key_id public_key_id SecretId secret_version_id token_id tokenId session_key_id host_key_id access_key_hash ssh_key_fingerprint key_fingerprint keyFingerprint token_hint token_type token_count auth_key_fingerprint';

const position = (random: Random): string =>
  generate(
    one(
      [`${URL64}{40}`, `${B64}{44}==`, `C${URL64}{22}`, `eyJ${URL64}{50}`, UUID, `${ALNUM}{24}`, `${HEX}{32}`],
      random,
    ),
    random,
  );

const idOf = (random: Random): string =>
  generate(
    one(
      [
        UUID,
        `${HEX}{40}`,
        `SHA256:${B64}{43}`,
        `${HEX}{2}:${HEX}{2}:${HEX}{2}:${HEX}{2}:${HEX}{2}:${HEX}{2}:${HEX}{2}:${HEX}{2}:${HEX}{2}:${HEX}{2}:${HEX}{2}:${HEX}{2}:${HEX}{2}:${HEX}{2}:${HEX}{2}:${HEX}{2}`,
        `arn:aws:kms:eu-west-1:[0-9]{12}:key/${UUID}`,
        `${HEX}{16}`,
        `[A-Z0-9]{8}`,
      ],
      random,
    ),
    random,
  );

const CRON: readonly string[] = [
  '0 20 0 * * *',
  '*/5 * * * *',
  '0 0 * * 0',
  '15 3 1 * *',
  '@daily',
  '30 2 * * MON-FRI',
  '0 0 12 1/1 * ?',
];
const CIPHERS =
  'AES/GCM/NoPadding AES/CBC/PKCS5Padding RSA/ECB/OAEPWithSHA-256AndMGF1Padding DESede/CBC/PKCS5Padding ChaCha20-Poly1305 PBEWithHmacSHA256AndAES_256 PBKDF2WithHmacSHA256 aes-256-gcm AES-128-CBC ECDHE-RSA-AES256-GCM-SHA384 TLS_AES_128_GCM_SHA256 HmacSHA512 SHA256withECDSA ssh-ed25519 ecdsa-sha2-nistp256 rsa-sha2-512'.split(
    ' ',
  );
const CIPHER_NAMES =
  'KEY_ALGORITHM secretAlgorithm PASSWORD_CIPHER tokenCipher ENCRYPTION_SECRET_SPEC passwordTransformation SECRET_KEY_FACTORY token_signing_alg password_encryption keyCipher'.split(
    ' ',
  );

/** Values that standards and vendors publish, with where: they are in every document and in the tests of every library. */
const PUBLISHED: readonly ((random: Random) => string)[] = [
  () => 'Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\n',
  () => 'Authorization: Basic dXNlcm5hbWU6cGFzc3dvcmQ=\n',
  () => 'curl -u Aladdin:open-sesame https://www.example.com/\n',
  () => 'Authorization: Bearer mF_9.B5f-4.1JqM\n',
  () => '{"access_token":"2YotnFZFEjr1zCsicMWpAA","refresh_token":"tGzv3JOkF0XG5Qx2TlKWIA"}\n',
  () => 'Authorization: Basic czZCaGRSa3F0MzpnWDFmQmF0M2JW\n',
  () => 'client_id=s6BhdRkqt3&client_secret=7Fjfp0ZBr1KtDRbnfVdmIw\n',
  () =>
    'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c\n',
  () => 'AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\n',
  () => 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\n',
  () =>
    'code_verifier=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM\n',
];

const SERVICES: readonly ((random: Random) => string)[] = [
  (r) => `keyring.get_password("${kebab(r)}-service", "${word(r)}")\n`,
  (r) => `const SERVICE_TOKEN: &str = "com.${word(r)}.${word(r)}";\n`,
  (r) => `let keychain = Keychain(service: "com.${word(r)}.${word(r)}-token")\n`,
  (r) => `    private const string PasswordVaultResource = "${pascal(r)}.${title(r)}";\n`,
  (r) => `secret-tool store --label='${title(r)} ${word(r)}' service ${kebab(r)} account ${word(r)}\n`,
  (r) => `  "tokenStorage": "org.${word(r)}.${camel(r)}",\n`,
];

/** Words that stand for a value, in base64: manifests have them. */
const PLACEHOLDERS =
  'changeme|your-password-here|password|test-api-key|placeholder|REPLACE_ME|<your-token>|my-secret-value|example|todo|dummy-token|insert token here'.split(
    '|',
  );
const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Names that only contain a word for secrets, and values that everyone knows. */
export const lookAlikeNames: Kind = {
  name: 'names that only look like secrets',
  makers: {
    'a position in a list': (random) => ({
      texts: [one(WRITTEN, random)(one(POSITIONS.split(' '), random), position(random))],
    }),
    'the id of a key': (random) => ({ texts: [one(WRITTEN, random)(one(KEY_IDS.split(' '), random), idOf(random))] }),
    'a token beside them': (random) => {
      const name = one(
        'access_token refresh_token api_key apiKey client_secret secretAccessKey auth_token authToken password'.split(
          ' ',
        ),
        random,
      );
      const value = `«${strong(random).replaceAll(/[!$%*]/g, '7')}»`;
      return {
        texts: [
          one(WRITTEN, random)(name, value) + one(WRITTEN, random)(one(POSITIONS.split(' '), random), position(random)),
        ],
      };
    },
    'a position in the name of a secret': (random) => {
      const name = one('page_secret sync_password pager_token next_api_key cursor_secret'.split(' '), random);
      return { texts: [one(WRITTEN.slice(0, 5), random)(name, `«${strong(random).replaceAll(/[!$%*]/g, '7')}»`)] };
    },
    'a line of cron': (random) => ({
      texts: [
        one(
          [
            `${snake(random).toUpperCase()}_AUTH="${one(CRON, random)}"\n`,
            `# PURGE_${word(random).toUpperCase()}_TOKEN='${one(CRON, random)}'\n`,
            `  rotate_${word(random)}_secret: "${one(CRON, random)}"\n`,
            `${word(random)}.password.cleanup.auth=${one(CRON, random)}\n`,
          ],
          random,
        ),
      ],
    }),
    'the name of a cipher': (random) => {
      const [name, cipher] = [one(CIPHER_NAMES, random), one(CIPHERS, random)];
      return {
        texts: [
          one(
            [
              `  private static final String ${name} = "${cipher}";\n`,
              `${name}: ${cipher}\n`,
              `  ${name} = '${cipher}'\n`,
              `    "${name}": "${cipher}",\n`,
              `val secretKey = SecretKeySpec(bytes, "${cipher}")\n`,
            ],
            random,
          ),
        ],
      };
    },
    'a checksum of something under a name': (random) => ({
      texts: [
        one(
          [
            `  ${pascal(random)}Auth: ${generate(`${HEX}{64}`, random)}  # sha256\n`,
            `    ${word(random)}_token_sha256: ${generate(`${HEX}{64}`, random)}\n`,
            `  checksum/${kebab(random)}-auth: ${generate(`${HEX}{64}`, random)}\n`,
            `"android:apk-key-hash:${generate(`${B64}{43}`, random)}"\n`,
            `key fingerprint is SHA256:${generate(`${B64}{43}`, random)} ${word(random)}@${word(random)}\n`,
          ],
          random,
        ),
      ],
    }),
    'a published example': (random) => ({ texts: [one(PUBLISHED, random)(random)] }),
    'the name of a service that keeps secrets': (random) => ({ texts: [one(SERVICES, random)(random)] }),
    'a placeholder in base64': (random) => {
      const value = base64(one(PLACEHOLDERS, random));
      return {
        texts: [
          `apiVersion: v1\nkind: Secret\nmetadata:\n  name: ${kebab(random)}\ntype: Opaque\ndata:\n  ${one(['password', 'api-key', 'token', word(random)], random)}: ${value}\n`,
        ],
      };
    },
    'a credential in base64': (random) => ({
      texts: [
        `apiVersion: v1\nkind: Secret\nmetadata:\n  name: ${kebab(random)}\ntype: Opaque\ndata:\n  ${one(['password', 'api-key', 'token', word(random)], random)}: «${base64(strong(random))}»\n`,
      ],
    }),
  },
};
