import { MIXED, type RuleSamples } from '../sample-patterns.ts';

export const samples: Readonly<Record<string, RuleSamples>> = {
  'connection-string-password': {
    match: ['Server=db;User Id=sa;Password=«[a-z]{6}[0-9]{2}»;Encrypt=true', '"Pwd=«[a-z]{8}»;Server=x"'],
    clean: ['Server=db;Password=;', 'a; password = password;', 'if (x) { y; password = getPassword(); }'],
  },
  'database-connection-password': {
    match: ['Server=db;Database=x;User Id=sa;Password=«[a-z]{8}»;', 'Driver={ODBC};Server=x;Uid=sa;Pwd=«[a-z]{8}»'],
    clean: [
      'Server=db;User Id=sa;Password=;',
      'Server={0};Password={1};',
      'Server=x;Password=$\\{pw};',
      'Server=x;Password=password;',
    ],
  },
  'go-dsn-password': {
    match: [
      `root:«${MIXED}»@tcp(db.example.com:3306)/app\n`,
      `"app:«${MIXED}»@unix(/run/mysqld.sock)/app?parseTime=true"`,
      `DSN=app:«${MIXED}»@/app\n`,
    ],
    clean: ['import x from "@/components/y";', 'user:%s@tcp(%s)/%s', 'https://example.com/@scope(x)/y'],
  },
  'keyword-dsn-password': {
    match: ['host=db user=me password=«[a-z]{8}» dbname=x', "port=5432 password='«[a-z]{8}»'"],
    clean: ['host=db user=me dbname=x', 'host=%s password=%s', 'host=db password=password', 'user=me password={pw}'],
  },
  'keyword-dsn-password-first': {
    match: ['password=«[a-z]{8}» host=db'],
    clean: ['password=%s host=db', 'password=password user=me', 'password host=db'],
  },
  'jdbc-password': {
    match: [
      'jdbc:mysql://h/db?user=me&password=«[a-z]{8}»',
      'jdbc:sqlserver://h:1433;user=sa;password=«[a-z]{6}[0-9]{2}»;x=1',
    ],
    clean: [
      'jdbc:mysql://h/db?user=me',
      'jdbc:mysql://h/db?password=$\\{pw}',
      'jdbc:mysql://h/db?user=me&password=password',
    ],
  },
  'oracle-thin-login': {
    match: ['jdbc:oracle:thin:scott/«[a-z]{6}[0-9]{2}»@//h:1521/x', 'sqlplus scott/«[a-z]{6}[0-9]{2}»@orcl'],
    clean: ['jdbc:oracle:thin:@//h:1521/x', 'sqlplus scott/$PW@orcl', 'sqlplus /nolog'],
  },
  'azure-account-key': {
    match: ['AccountName=a;AccountKey=«[A-Za-z0-9+/]{86}==»;EndpointSuffix=x', 'SharedAccessKey=«[A-Za-z0-9+/]{43}=»'],
    clean: ['AccountKey=<key>', 'AccountKey=$KEY', 'accesskey=name_of_the_key_of_the_account'],
  },
  'azure-sas-parameter': {
    match: ['?sv=2020&ss=b&sig=«[A-Za-z0-9]{43}%3D»&se=2'],
    clean: ['?sv=1&se=2', '&sig=short'],
  },
  'redis-connection-password': {
    match: ['cache.example:6380,password=«[A-Za-z0-9+/]{43}=»,ssl=True'],
    clean: ['cache.example:6380,ssl=True', 'h:6380,password=$PW'],
  },
  'smtp-ldap-bind': {
    match: ['ldapsearch -D cn=a -w «[a-z]{6}[0-9]{2}» -b x', 'bindpw «[a-z]{6}[0-9]{2}»', 'rootpw: «[a-z]{6}[0-9]{2}»'],
    clean: ['ldapsearch -x -b dc=x', 'bindpw $PW', 'ldapsearch -w $PW'],
  },
  'sql-identified-by': {
    match: [
      "CREATE USER me IDENTIFIED BY '«[a-z]{8}»';",
      "ALTER USER 'root'@'h' IDENTIFIED WITH mysql_native_password BY '«[a-z]{8}»';",
      'grant all to me identified by "«[a-z]{8}»"',
    ],
    clean: [
      "IDENTIFIED BY '$PW'",
      'a node identified by its name',
      'IDENTIFIED BY PASSWORD',
      'a user identified by email.',
    ],
  },
  'sql-password': {
    match: [
      "ALTER ROLE me WITH PASSWORD '«[a-z]{6}[0-9]{2}»';",
      "SET PASSWORD FOR 'me'@'%' = PASSWORD('«[a-z]{6}[0-9]{2}»');",
      "CREATE LOGIN me WITH PASSWORD = N'«[a-z]{6}[0-9]{2}»'",
    ],
    clean: [
      "ALTER ROLE me WITH PASSWORD '<password>'",
      'ALTER ROLE me WITH PASSWORD NULL',
      "WITH PASSWORD '$\\{pw}'",
      "for the password 'required'",
    ],
  },
  'sql-secret-option': {
    match: ["SECRET = '«[A-Za-z0-9]{30}7»'", "aws_secret_key='«[A-Za-z0-9+/]{38}+7»'"],
    clean: ["SECRET = 'name'", "credential='arn:aws:iam::1:role/x'"],
  },
  'sql-insert-user': {
    match: ["INSERT INTO users (username, password) VALUES ('me', '«[a-z]{6}[0-9]{2}»');"],
    clean: ['INSERT INTO users (username, password) VALUES (?, ?)', "INSERT INTO t (a, b) VALUES ('x', 'yyyyyy')"],
  },
  'sql-insert-user-id': {
    match: ["INSERT INTO users (id, username, password) VALUES (1, 'me', '«[a-z]{6}[0-9]{2}»');"],
    clean: ['INSERT INTO users (id, username, password) VALUES (?, ?, ?)'],
  },
  'sql-update-password': {
    match: [
      "UPDATE users SET password = '«[a-z]{6}[0-9]{2}»' WHERE id=1",
      "update u set name='x', pwd=md5('«[a-z]{6}[0-9]{2}»')",
    ],
    clean: [
      'UPDATE users SET password = ? WHERE id=1',
      "UPDATE users SET password = '$pw'",
      "set password = 'password'",
    ],
  },
};
