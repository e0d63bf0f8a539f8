import type { RuleSamples } from '../sample-patterns.ts';

export const samples: Readonly<Record<string, RuleSamples>> = {
  'name-value-object': {
    match: [
      '  - name: DB_PASSWORD\n    value: «[a-z]{6}[0-9]{2}»',
      '{"name": "api_token", "value": "«[a-z]{3}[0-9]{2}[A-Z]{3}[a-z0-9]{6}[0-9]{2}»"}',
      'ParameterKey=DBPassword,ParameterValue=«[a-z]{6}[0-9]{2}»',
      '{"name": "SIGNING_KEY", "value": "«[a-z]{3}[0-9]{2}[A-Z]{3}[a-z0-9]{6}[0-9]{2}»"}',
    ],
    clean: [
      '- name: DB_PASSWORD\n  valueFrom:',
      '{"name": "password", "value": ""}',
      '{"name": "password", "value": "password"}',
      '{"name": "token", "value": "$\\{x}"}',
    ],
  },
  'name-value-pw': {
    match: [
      '  - name: LDAP_BIND_PW\n    value: «[a-z]{6}[0-9]{2}»',
      '{"name": "bindpw", "value": "«[a-z]{6}[0-9]{2}»"}',
    ],
    clean: [
      '- name: LDAP_BIND_PW\n  valueFrom:',
      '{"name": "bind_pw", "value": "$\\{x}"}',
      '{"name": "pwa", "value": "abcdef12"}',
    ],
  },
  'value-before-name': {
    match: [
      '{"value":"«[a-z]{6}[0-9]{2}»","name":"DB_PASSWORD"}',
      '- value: «[a-z]{6}[0-9]{2}»\n  name: DB_PASSWORD_2\n',
    ],
    clean: [
      '{"value":"[a-z]{6}[0-9]{2}","name":"PASSWORD_LENGTH"}',
      '{"value":"[a-z]{6}[0-9]{2}"},{"name":"DB_PASSWORD"}',
      '- value: [a-z]{6}[0-9]{2}\n- name: DB_PASSWORD\n',
      '{"value":"$\\{x}","name":"DB_PASSWORD"}',
    ],
  },
  'name-value-key': {
    match: [
      '- name: COOKIE_KEY\n  value: «[A-Za-z0-9]{20}[0-9]{2}[A-Z]{2}»\n',
      '{"name":"fernet_key","value":"«[A-Za-z0-9]{20}[0-9]{2}[A-Z]{2}»"}',
    ],
    clean: ['- name: SORT_KEY\n  value: [A-Za-z0-9]{20}[0-9]{2}[A-Z]{2}\n', '{"name":"COOKIE_KEY","value":"kangaroo"}'],
  },
  'nested-value': {
    match: [
      'password:\n  value: «[a-z]{6}[0-9]{2}»\n',
      '"apiToken": {\n  "type": "string",\n  "default": "«[a-z]{6}[0-9]{6}»"\n}',
    ],
    clean: [
      'password:\n  value: $\\{x}\n',
      'tokens:\n  value: 4096\n',
      'password:\n  type: string\n',
      'password:\n  default: changeme\n',
    ],
  },
  'name-value-row': {
    match: ['│ DB_PASSWORD │ «[a-z]{6}[0-9]{4}» │', '| api_token | «[a-z]{6}[0-9]{6}» | staging |'],
    clean: ['| password | varchar255 | yes |', '| token | 4096tokens | |', '│ password_length │ [a-z]{6}[0-9]{4} │'],
  },
  'xml-secret': {
    match: ['<password>«[a-z]{6}[0-9]{2}»</password>', '<server:apiKey> «[a-z0-9]{20}1» </server:apiKey>'],
    clean: ['<password>$\\{env.PW}</password>', '<token>string</token>', '<password></password>'],
  },
  'xml-password-word': {
    match: ['  <password>«[a-z]{8}»</password>'],
    clean: ['<password>password</password>', '<password>string</password>', '<token>word</token>'],
  },
  'xml-attribute-secret': {
    match: [
      '<datasource username="sa" password="«[a-z]{6}[0-9]{2}»" url="x"/>',
      "<x apiKey='«[a-z]{3}[0-9]{2}[A-Z]{3}[a-z0-9]{6}[0-9]{2}»'/>",
    ],
    clean: [
      '<input type="password" name="password" placeholder="Password">',
      '<x password="$\\{pw}"/>',
      '<label token="true"/>',
    ],
  },
  'xml-named-value': {
    match: [
      '<property name="password" value="«[a-z]{6}[0-9]{2}»"/>',
      '<entry key="api.token">«[a-z]{3}[0-9]{2}[A-Z]{3}[a-z0-9]{6}[0-9]{2}»</entry>',
      '<string name="api_key">«[a-z]{3}[0-9]{2}[A-Z]{3}[a-z0-9]{6}[0-9]{2}»</string>',
    ],
    clean: [
      '<property name="password" value="$\\{pw}"/>',
      '<property name="user" value="abc12"/>',
      '<string name="password">Password</string>',
    ],
  },
  'plist-secret': {
    match: ['<key>apiToken</key>\n<string>«[a-z]{3}[0-9]{2}[A-Z]{3}[a-z0-9]{6}[0-9]{2}»</string>'],
    clean: ['<key>name</key><string>abcdefghi1</string>', '<key>token</key><string>$(X)</string>'],
  },
  'argument-pair': {
    match: [
      'props.put("password", "«[a-z]{6}[0-9]{2}»")',
      'System.setProperty("api.key", "«[a-z]{3}[0-9]{2}[A-Z]{3}[a-z0-9]{6}[0-9]{2}»")',
    ],
    clean: [
      'put("password", password)',
      'set("password", "password")',
      't("password", "Password1")',
      'setProperty("token", "string")',
    ],
  },
  'method-secret': {
    match: [
      'config.setPassword("«[a-z]{6}[0-9]{2}»")',
      "client.withApiKey('«[a-z]{3}[0-9]{2}[A-Z]{3}[a-z0-9]{6}[0-9]{2}»')",
      '.password("«[a-z]{6}[0-9]{2}»")',
    ],
    clean: [
      'setPassword("")',
      '.password("password")',
      'withToken("token")',
      'getToken("abc12345")',
      'setPassword(pw)',
    ],
  },
  'login-call': {
    match: [
      'new NetworkCredential("me", "«[a-z]{6}[0-9]{2}»")',
      'req.SetBasicAuth("me", "«[a-z]{6}[0-9]{2}»")',
      'server.login("me@x.example", "«[a-z]{6}[0-9]{2}»")',
    ],
    clean: ['login("user", "password")', 'SetBasicAuth(user, pw)', 'authenticate("me", "$pw")', '.auth("a")'],
  },
  'auth-tuple': {
    match: ["requests.get(u, auth=('me', '«[a-z]{6}[0-9]{2}»'))", "auth: \\['me', '«[a-z]{6}[0-9]{2}»'\\]"],
    clean: ["auth=('user', 'password')", 'auth=(user, pw)', "auth: ['read']"],
  },
  'database-connect-call': {
    match: [
      'mysqli_connect("localhost", "root", "«[a-z]{6}[0-9]{2}»", "db")',
      'new PDO("mysql:host=x", "root", "«[a-z]{6}[0-9]{2}»")',
      'new mysqli($host, $config["user"], "«[a-z]{6}[0-9]{2}»")',
    ],
    clean: ['mysqli_connect($h, $u, $p)', 'new PDO("mysql:host=x", "root", "password")'],
  },
  'oracle-connect-call': {
    match: [
      'oci_pconnect("hr", "«[a-z]{6}[0-9]{2}»", "db/XE")',
      'cx_Oracle.connect("hr", "«[a-z]{6}[0-9]{2}»", dsn)',
      'oci_connect($user, "«[a-z]{6}[0-9]{2}»", "db/XE")',
      "oracledb.connect(cfg.user, '«[a-z]{6}[0-9]{2}»', dsn)",
    ],
    clean: ['oci_connect($user, $password, "db/XE")', "oracledb.connect('hr', 'password', 'db/XE')"],
  },
  'prose-password': {
    match: ['The password is "«[a-z]{8}»".', 'your password is: «[A-Z]{2}[0-9]{2}[a-z]{3}[0-9]{1}!»'],
    clean: [
      'The password is required.',
      'password is "string"',
      'The password is not valid',
      'the password was changed.',
    ],
  },
  'prose-token': {
    match: ['Your access token is «[A-Za-z0-9]{20}7»'],
    clean: ['the token is required', 'The token is invalid_or_expired_token', 'Your access token is <token>'],
  },
  'password-announced': {
    match: ['A temporary password is generated for root@localhost: «[a-z]{3}[A-Z]{2},[0-9]{2}![a-z]{2}»\n'],
    clean: ['Password generated for user: see the file\n', 'the password for x: $PW\n'],
  },
  'spoken-pair': {
    match: [
      'Admin password    «[a-z]{4}[0-9]{2}[A-Z]{2}[0-9]{2}»',
      '| password | «[a-z]{6}[0-9]{2}» |',
      'API Key   «[A-Za-z0-9]{20}7»',
    ],
    clean: ['password    string', 'token   Token1', '| password | string |', 'token    1234'],
  },
};
