import { type Mutant, mutantsOf } from './mutant.ts'

export const frozen: Mutant[] = [
  ...mutantsOf(
    'src/platform/database/time-limits.ts',
    ['processes/frozen-transaction.processes.ts'],
    [
      [
        'frozen.idle-transaction',
        'Whoever is frozen in the middle of a transaction does not keep its rows.',
        `  idle_in_transaction_session_timeout: 5_000,\n`,
        '',
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/database/migration-lock.ts',
    ['platform/session-settings.test.ts'],
    [
      [
        'limits.of-migrations',
        'Limits of time that a role has end no migration.',
        'for (const name of limits) await client.query',
        'for (const name of limits) void ',
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/database/session-settings.ts',
    ['platform/session-settings.test.ts'],
    [
      [
        'settings.isolation',
        'Sessions in which those that meet fail are refused.',
        "  default_transaction_isolation: ['read committed'],\n",
        '',
      ],
      [
        'settings.warnings',
        'Sessions that are not told that a commit reached no standby are refused.',
        "  client_min_messages: ['notice', 'warning', 'log', 'debug'],\n",
        '',
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/database/database-client.ts',
    ['platform/time-zone.test.ts'],
    [['settings.utc', 'Days are those of UTC, whatever zone the server has.', `, TimeZone: 'UTC' }`, ' }']],
  ),
  ...mutantsOf(
    'src/domain/invariants/check-tables.ts',
    ['domain/tables.test.ts'],
    [['tables.finished', 'An index that was not finished is told.', 'not x.indisvalid and', 'false and']],
  ),
  ...mutantsOf(
    'src/platform/database/database.ts',
    ['platform/pooler.test.ts'],
    [
      [
        'pooler.unnamed',
        'Statements go without names where a pooler does not keep them.',
        `...(keepsStatements && { name: wanted.name }),`,
        `name: wanted.name,`,
      ],
      ['pooler.noticed', 'A pooler that keeps statements no more is believed.', `    keepsStatements = false\n`, ''],
      [
        'pooler.settings',
        'A shared session is opened without settings of our own, which would be another’s next.',
        `...(pooler ? {} : timeLimits),`,
        `...timeLimits,`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/reads/ask.ts',
    ['platform/pooler.test.ts'],
    [
      [
        'pooler.unnamed-reads',
        'Reads go without names where a pooler does not keep them.',
        `mayName() ? nameOf(asked) : undefined`,
        `nameOf(asked)`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/database/pooler.ts',
    ['platform/pooler.test.ts'],
    [
      [
        'pooler.one-database',
        'Requests and leases are of one database.',
        `through.server !== direct.server`,
        `through.server === ''`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/database/database-client.ts',
    ['processes/frozen-transaction.processes.ts'],
    [
      [
        'frozen.lost-connection',
        'A connection that is lost between two statements does not end the process.',
        `    this.on('error', () => {})\n`,
        '',
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/database/database.ts',
    ['processes/frozen-transaction.processes.ts'],
    [
      [
        'frozen.old-wishes',
        'What was in hand before a long standstill is not carried out.',
        `    assertAwake()\n    const ask`,
        `    const ask`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/database/database.ts',
    ['processes/frozen-transaction.processes.ts'],
    [
      [
        'frozen.starting',
        'A process that starts may take as long as it takes.',
        `let wakes: WakeWatch | undefined\n`,
        `let wakes: WakeWatch | undefined = watchWakes(longestStandstill)\n`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/cli/with-installation.ts',
    ['processes/standstill.processes.ts'],
    [
      [
        'frozen.loading-command',
        'A command may take as long as it takes to load the service.',
        `    await load()
    installation.database.watchStandstills()
`,
        `    installation.database.watchStandstills()
    await load()
`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/run-process.ts',
    ['processes/standstill.processes.ts'],
    [
      [
        'frozen.service',
        'A service carries out nothing that came while it stood still.',
        `  database.watchStandstills()\n`,
        '',
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/lease.ts',
    ['processes/relay-frozen.processes.ts'],
    [
      [
        'frozen.session-name',
        'A lease is kept by its holder’s session, whatever name DATABASE_URL gives to sessions.',
        `\n  set application_name = '\${sessionOf(holder)}';`,
        '',
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/database/migration-lock.ts',
    ['processes/frozen-migrator.processes.ts', 'server/migrations.test.ts'],
    [
      [
        'frozen.migrator-silent',
        'Nobody waits for ever for a process that is frozen while it migrates.',
        `  await client.query(\`SET idle_session_timeout = \${silence}\`)\n`,
        '',
      ],
      [
        'frozen.migrator-wakes',
        'The migration lock is the session’s in which the scripts run: whoever loses one loses both.',
        `SELECT pg_advisory_lock($1)`,
        `SELECT pg_advisory_xact_lock($1)`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/embedded/child-process.ts',
    ['processes/embedded-chain.processes.ts'],
    [
      [
        'frozen.driver',
        'The embedded chain goes on while the process that drives it is frozen.',
        `Date.now() - mtimeMs < SILENT_MS`,
        `mtimeMs >= 0`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/chain/relay/recover.ts',
    ['processes/relay-frozen.processes.ts'],
    [
      [
        'frozen.filler',
        'Whoever has lost a lane fills no nonce of it.',
        `  await parts.lease.assertHeld(lane.name)\n`,
        '',
      ],
    ],
  ),
]
