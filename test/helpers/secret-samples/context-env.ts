import { MIXED, type RuleSamples } from '../sample-patterns.ts';

export const samples: Readonly<Record<string, RuleSamples>> = {
  'env-password': {
    match: [
      'DB_PASSWORD=«hunter[0-9]{1}»\n',
      "export PGPASSWORD='«correct horse [a-z]{5}»'",
      'docker run -e MYSQL_ROOT_PASSWORD=«[a-z]{7}» mysql',
      '\\["SMTP_PASS=«[a-z]{6}»","PATH=/usr/bin"\\]',
      '\\\\nREDIS_PASSWORD=«[a-z]{4}[0-9]{4}»\\\\nX=1',
      '\x1b\\[32mDB_PASSWORD=«[a-z]{6}[0-9]{2}»\x1b\\[0m',
    ],
    clean: [
      'PWD=/home/me',
      'OLDPWD=/tmp',
      'PASSWORD=$1',
      'PASSWORD="$\\{PW}"',
      'DB_PASSWORD=',
      'COMPASS=north',
      'PASSWORD_MIN_LENGTH=12',
      'DB_PASSWORD=\\[SECRET_3\\]',
      'DB_PASSWORD=****',
    ],
  },
  'env-secret': {
    match: [
      'API_KEY=«[a-z]{2}[0-9]{2}[A-Z]{2}[a-z0-9]{2}»\n',
      `STRIPE_SECRET_KEY_LIVE="«${MIXED}»"`,
      `NPM_TOKEN=«${MIXED}» npm publish`,
      `'JWT_SECRET=«${MIXED}»'`,
    ],
    clean: [
      'MAX_TOKEN=4096',
      'API_KEY=$API_KEY',
      'TOKEN=$\\{{ secrets.TOKEN }}',
      'API_KEY=process.env',
      'SSH_PRIVATE_KEY=~/.ssh/id',
      'API_KEY=your_api_key_here',
      'API_KEY=<your-key>',
      'TOKEN_TTL=360000',
      'PRIMARY_KEY=identifier',
    ],
  },
  'env-line': {
    match: ['DB_PASSWORD=«p;&|(\\[a-z]{4}»', `  export API_KEY=«${MIXED}&x=(y)»`, '+ADMIN_PASSWORD=«[a-z]{8}»'],
    clean: [
      'DB_PASSWORD=$(pass show db)',
      'TOKEN=$\\{TOKEN:-}',
      'const PASSWORD=required',
      'API_TOKEN=\\[SECRET_12\\]',
    ],
  },
  'env-dockerfile': {
    match: [
      'ENV DB_PASSWORD «[a-z]{6}[0-9]{2}»',
      'setenv API_TOKEN «[a-z]{3}[0-9]{2}[A-Z]{3}[a-z0-9]{6}[0-9]{2}»',
      '  ENV SECRET_KEY "«[a-z]{3}[0-9]{2}[A-Z]{3}[a-z0-9]{6}[0-9]{2}»"',
      'set -gx DB_PASSWORD «[a-z]{6}[0-9]{2}»',
      'tmux set-environment -g API_TOKEN «[a-z]{3}[0-9]{2}[A-Z]{3}[a-z0-9]{6}[0-9]{2}»',
    ],
    clean: [
      'set -gx DB_PASSWORD $PW',
      'set -e API_TOKEN',
      'ENV PATH /usr/bin',
      'ENV DB_PASSWORD $PW',
      'ENV TOKEN_TTL 3600',
    ],
  },
  'env-default': {
    match: ['image: x\n  POSTGRES_PASSWORD: $\\{POSTGRES_PASSWORD:-«[a-z]{6}»}', '$\\{API_KEY-«[a-z0-9]{12}»}'],
    clean: ['$\\{DB_PASSWORD:-}', '$\\{DB_PASSWORD}', '$\\{DB_PASSWORD:?}'],
  },
  'env-call': {
    match: ["define('DB_PASSWORD', '«[a-z]{5}[0-9]{2}»')", `setenv("API_KEY", "«${MIXED}»", 1)`],
    clean: ['getenv("TOKEN", "default")', 't("password", "Password")', 'foo("API_KEY", key)'],
  },
  'env-define': {
    match: [
      "define( 'DB_PASSWORD', '«[a-z]{8}»' );",
      '#define WIFI_PASS "«[a-z]{6}[0-9]{2}»"',
      '#define API_KEY "«[a-z]{3}[0-9]{2}[A-Z]{3}[a-z0-9]{6}[0-9]{2}»"',
    ],
    clean: [
      "define('DB_PASSWORD', 'password_here');",
      '#define MAX_TOKEN "12"',
      "define('DB_PASSWORD', getenv('X'));",
      '#define PASSWORD_LENGTH "minimum"',
    ],
  },
  'env-mapping': {
    match: [
      '      POSTGRES_PASSWORD: «[a-z]{8}»',
      '  API_TOKEN: "«[a-z]{3}[0-9]{2}[A-Z]{3}[a-z0-9]{6}[0-9]{2}»"',
      '- MYSQL_ROOT_PASSWORD: «[a-z]{6}[0-9]{2}»',
    ],
    clean: [
      '  POSTGRES_PASSWORD: $\\{PW}',
      '  API_TOKEN: $\\{{ secrets.API_TOKEN }}',
      '  DB_PASSWORD: string',
      '  SECRET_KEY: !Ref Key',
      '  PASSWORD: z.string()',
      '  TOKEN: SyntaxKind',
      'PASS: test1234',
    ],
  },
};
