import type { RuleSamples } from '../sample-patterns.ts';

export const samples: Readonly<Record<string, RuleSamples>> = {
  'flag-secret': {
    match: [
      'mytool --password «hunter[0-9]{1}» --verbose',
      'x --api-key=«[a-z]{6}[0-9]{6}»',
      'y --auth-token "«[a-z]{6}[0-9]{6}»"',
      'redis-server --requirepass «[a-z]{6}[0-9]{6}»',
    ],
    clean: [
      '--password-stdin',
      '--token string',
      '--token $TOKEN',
      '--password=$\\{PW}',
      '--api-key <key>',
      '--token=TOKEN',
      '--password ./file1',
    ],
  },
  'option-password': {
    match: [
      'tool --password «[a-z]{4}\\$[0-9]{3}x» --host db',
      'tool /password:«[a-z]{4}[0-9]{4}»',
      'tool --db-password=«[a-z]{5}-[a-z]{6}»',
      '\\["--password", "«[a-z]{4}\\{[0-9]{3}»"\\]',
    ],
    clean: ['tool --password-file pw.txt', 'tool --password $PW', 'use --password instead', '--password <value>'],
  },
  'flag-password': {
    match: ['docker login --password=«[a-z]{8}» -u me', 'keytool -storepass «[a-z]{6}[0-9]{2}» -alias x'],
    clean: ['docker login --password-stdin', 'mysql --password', 'mysql --password=$PW', 'openssl rsa -passin file:x'],
  },
  'client-password': {
    match: [
      'mysql -u root -p«[a-z]{6}[0-9]{2}» db',
      'sshpass -p «[a-z]{6}[0-9]{2}» ssh x',
      'curl -s -u me:«[a-z]{6}[0-9]{2}» https://x',
      'redis-cli -h x -a «[a-z]{8}» ping',
    ],
    clean: ['mysql -u root -p db', 'curl -u me:$PW https://x', 'curl -u "$USER:$PW" https://x', 'mysql --port=3306'],
  },
  'client-password-attached': {
    match: [
      'PsExec.exe \\\\\\\\h -u me -p «[a-z]{6}[0-9]{2}» cmd',
      '7z x -p«[a-z]{6}[0-9]{2}» a.7z',
      'plink -pw «[a-z]{6}[0-9]{2}» h',
    ],
    clean: ['psexec -u me', '7z x a.7z', 'zip -r a.zip b', 'net user me /add'],
  },
  'piped-password': {
    match: ['echo «[a-z]{8}» | docker login --password-stdin -u me', 'echo "root:«[a-z]{8}»" | chpasswd'],
    clean: ['echo $PW | docker login --password-stdin', 'echo done | sudo tee x', 'echo "$USER:$PW" | chpasswd'],
  },
  'openssl-pass': {
    match: ['openssl enc -pass pass:«[a-z]{8}» -in x'],
    clean: ['-pass pass:$PW', '-passin file:x'],
  },
  'htpasswd-password': {
    match: ['htpasswd -bc .htpasswd me «[a-z]{8}»'],
    clean: ['htpasswd -c file me', 'htpasswd -b file me $PW'],
  },
  'useradd-password': {
    match: ['rabbitmqctl add_user me «[a-z]{6}[0-9]{2}»', 'CONFIG SET requirepass «[a-z]{8}»'],
    clean: ['rabbitmqctl list_users', 'CONFIG SET requirepass $PW'],
  },
  'powershell-secure-string': {
    match: [
      'ConvertTo-SecureString "«[a-z]{6}[0-9]{2}»" -AsPlainText -Force',
      'ConvertTo-SecureString -String "«[a-z]{6}[0-9]{2}»" -AsPlainText',
    ],
    clean: ['ConvertTo-SecureString $pw -AsPlainText', 'ConvertTo-SecureString "$pw"'],
  },
  'config-set': {
    match: [
      'npm config set api_key «[a-z]{3}[0-9]{2}[A-Z]{3}[a-z0-9]{6}[0-9]{2}»',
      'vault kv put secret/x db_password=«[a-z]{6}[0-9]{2}»',
    ],
    clean: ['npm config set registry https://x', 'config set api_key $KEY', 'git config token'],
  },
  'login-token': {
    match: ['vault login «[A-Za-z0-9]{24}»', 'snyk auth «[A-Za-z0-9]{24}»'],
    clean: ['vault login -method=oidc', 'vault login $TOKEN'],
  },
  'curl-cookie': {
    match: ['curl -b "a=b; sessionid=«[A-Za-z0-9]{24}»" https://x'],
    clean: ['curl -b cookies.txt https://x', 'curl -b "theme=dark_blue_and_more" x'],
  },
  'expect-password': {
    match: ['expect "Password:"\nsend "«[a-z]{8}»\\\\r"', 'expect -re "assword" { send "«[a-z]{8}»\\\\r" }'],
    clean: ['expect "login:"', 'expect "Password:"\nsend "$pw"'],
  },
};
