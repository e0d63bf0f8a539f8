import { ALNUM, HEX, MIXED, type RuleSamples } from '../sample-patterns.ts';

export const samples: Readonly<Record<string, RuleSamples>> = {
  'prompted-key': {
    match: ['AWS Secret Access Key [None]: «[A-Za-z0-9/+]{40}»', `API Key [****abcd]: «${ALNUM}{24}»`],
    clean: ['AWS Secret Access Key [None]: ', 'Secret key [optional]: none'],
  },
  'asked-setting': {
    match: [
      '\\$ aws configure get aws_secret_access_key\n«[A-Za-z0-9]{40}»\n',
      `npm config get //registry.example.com/:_secret\n«${MIXED}»\n`,
    ],
    clean: ['aws configure get region\neu-west-1\n', 'printenv HOME\n/home/me/somewhere\n'],
  },
  'user-and-password-options': {
    match: [
      'cypher-shell -u neo4j -p «[a-z]{6}[0-9]{4}» x',
      "tool -U app -P '«[a-z]{4}[0-9]{4}»'",
      'db --user app -h db -w «[a-z]{6}[0-9]{4}»',
    ],
    clean: [
      'docker run -u app -p 8080:80 x',
      'run -u app -p 127.0.0.1:80:8080',
      'x -u app -p cacheprovider',
      'x -u app -p ./plugin1',
    ],
  },
  'kubeadm-certificate-key': {
    match: [`--certificate-key «${HEX}{64}»`, `Using certificate key:\n«${HEX}{64}»\n`],
    clean: ['--certificate-key string', `sha256:${HEX}{64}`],
  },
  'rails-key-file': {
    match: [`\\$ cat config/master.key\n«${HEX}{32}»\n`, `config/credentials/production.key:«${HEX}{32}»`],
    clean: [`master.key\n${HEX}{40}\n`, 'config/master.key: No such file'],
  },
};
