import {
  only,
  readAssignments,
  readJson,
  readNetrc,
  readNpmrc,
  readPgpass,
  readUrls,
  type SeedFormat,
} from './formats.ts';

/** A file of credentials in a user's home. */
export interface CredentialFile {
  /** Relative to the home. */
  path: string;
  /** What the secrets of it are called where a rule's name is shown. */
  rule: string;
  read: SeedFormat;
}

const CLOUD_FIELDS = /^(?:client_?secret|refresh_?token|access_?token|id_?token|private_?key|secret|password)$/i;

/** Each holds secrets only under the names that are read, so that what they hold needs no telling name. */
export const CREDENTIAL_FILES: readonly CredentialFile[] = [
  { path: '.netrc', rule: 'seed-netrc', read: readNetrc },
  { path: '_netrc', rule: 'seed-netrc', read: readNetrc },
  { path: '.npmrc', rule: 'seed-npmrc-token', read: only(/(?:^|:)_(?:authToken|auth|password)$/, readNpmrc) },
  { path: '.pypirc', rule: 'seed-pypirc-password', read: only(/^password$/, readAssignments) },
  {
    path: '.aws/credentials',
    rule: 'seed-aws-credentials',
    read: only(/^aws_(?:secret_access_key|session_token)$/i, readAssignments),
  },
  {
    path: '.docker/config.json',
    rule: 'seed-docker-credentials',
    read: only(/^(?:auth|identitytoken|registrytoken|password)$/i, readJson),
  },
  {
    path: '.kube/config',
    rule: 'seed-kubeconfig-token',
    read: only(
      /^(?:token|password|client-key-data|id-token|refresh-token|access-token|client-secret)$/,
      readAssignments,
    ),
  },
  { path: '.config/gh/hosts.yml', rule: 'seed-gh-token', read: only(/^oauth_token$/, readAssignments) },
  { path: '.git-credentials', rule: 'seed-git-credentials', read: readUrls },
  { path: '.config/git/credentials', rule: 'seed-git-credentials', read: readUrls },
  {
    path: '.config/gcloud/application_default_credentials.json',
    rule: 'seed-gcloud-credentials',
    read: only(CLOUD_FIELDS, readJson),
  },
  { path: '.azure/accessTokens.json', rule: 'seed-azure-token', read: only(CLOUD_FIELDS, readJson) },
  { path: '.azure/msal_token_cache.json', rule: 'seed-azure-token', read: only(CLOUD_FIELDS, readJson) },
  { path: '.azure/service_principal_entries.json', rule: 'seed-azure-token', read: only(CLOUD_FIELDS, readJson) },
  { path: '.cargo/credentials.toml', rule: 'seed-cargo-token', read: only(/^token$/, readAssignments) },
  { path: '.cargo/credentials', rule: 'seed-cargo-token', read: only(/^token$/, readAssignments) },
  { path: '.pgpass', rule: 'seed-pgpass', read: readPgpass },
];
