import { ALNUM, B64, HEX, type RuleSamples, URL64 } from '../sample-patterns.ts';

export const samples: Readonly<Record<string, RuleSamples>> = {
  'private-key': {
    match: [
      `«-----BEGIN RSA PRIVATE KEY-----\n${B64}{64}\n${B64}{64}\n${B64}{20}==\n-----END RSA PRIVATE KEY-----»\n`,
      `"private_key": "«-----BEGIN PRIVATE KEY-----\\\\n${B64}{64}\\\\n${B64}{30}=\\\\n-----END PRIVATE KEY-----»\\\\n"`,
      `«-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,${HEX}{32}\n\n${B64}{64}\n-----END EC PRIVATE KEY-----»`,
      `«-----BEGIN PRIVATE KEY-----\n${B64}{64}\n${B64}{64}»\n$ ls\n`,
      `«-----BEGIN PRIVATE KEY-----\n${B64}{64}\n${B64}{31}»`,
    ],
    clean: [
      '-----BEGIN PUBLIC KEY-----\n[A-Za-z0-9+/]{64}\n-----END PUBLIC KEY-----',
      '-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----',
      '`-----BEGIN PRIVATE KEY-----\\\\n$\\{der.toString()}\\\\n-----END PRIVATE KEY-----`',
    ],
  },
  'putty-private-key': {
    match: [`Private-Lines: 2\n«${B64}{64}\n${B64}{40}»\nPrivate-MAC: ${HEX}{40}\n`],
    clean: ['Private-Lines: 2', 'Public-Lines: 1\n[A-Za-z0-9]{64}\n'],
  },
  'age-secret-key': { match: ['«AGE-SECRET-KEY-1[A-Z0-9]{58}»'], clean: ['AGE-SECRET-KEY-1'] },
  'json-web-token': {
    match: [
      `Cookie: «eyJhbGciOi${URL64}{20}.eyJzdWIi${URL64}{40}.${URL64}{43}»`,
      `«eyJlbmMi${URL64}{30}..${URL64}{16}.${URL64}{60}.${URL64}{22}»`,
    ],
    clean: ['eyJhbGciOiJIUzI1NiJ9', 'eyJ.eyJ.x'],
  },
  'json-web-token-base64': { match: [`token «ZXlK${B64}{80}==»`], clean: ['ZXlK', 'ZXlKhbGciOi'] },
  'kubeconfig-key': {
    match: [`    client-key-data: «${B64}{200}==»`],
    clean: ['client-key-data: ""', `client-certificate-data: ${B64}{80}`],
  },
  'shadow-password-hash': {
    match: [`root:«$6$${ALNUM}{16}$${ALNUM}{86}»:19000:0:99999:7:::`, `web:«$2y$10$${ALNUM}{53}»`],
    clean: ['root:x:0:0:root:/root:/bin/bash', 'a:$1$2'],
  },
};
