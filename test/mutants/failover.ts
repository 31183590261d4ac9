import { type Mutant, mutantsOf } from './mutant.ts'

export const failover: Mutant[] = [
  ...mutantsOf(
    'src/platform/workers/handed-connections.ts',
    ['processes/workers.processes.ts'],
    [
      [
        'failover.handed',
        'A connection that was handed to a worker that died is answered by another.',
        `if (handed === undefined) return`,
        `if (handed !== undefined) return`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/run-process.ts',
    ['processes/starting.processes.ts'],
    [
      [
        'failover.not-yet-open',
        'No request comes to a gateway that does not answer requests yet.',
        `isAtPort && probesApart && port !== 0`,
        `port < 0`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/database/primary-watch.ts',
    ['processes/failover.processes.ts'],
    [
      [
        'failover.past-primary',
        'A primary whose timeline has ended is not written to, however well it answers.',
        `    return own.filter((of) => of.timeline === timeline).map(({ each }) => each)`,
        `    return own.map(({ each }) => each)`,
      ],
      [
        'failover.half-heard',
        'Nobody is chosen before all have been heard.',
        `    if (!primary && !isHeardOf()) return\n`,
        '',
      ],
      [
        'failover.two-primaries',
        'Of several servers that take writes, none is written to where nothing tells which one is right.',
        `fitting.length === 1 ? fitting[0] : primary`,
        `fitting[0] ?? primary`,
      ],
      [
        'failover.stays',
        'Connections to a server that takes writes no more are cut.',
        `      each.cut(`,
        `      void (`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/database/database-client.ts',
    ['processes/failover.processes.ts'],
    [
      [
        'failover.cancelled-wait',
        'A commit whose wait for the standbys was cancelled is not told as success.',
        `    if (routine !== WAITS_FOR_STANDBYS) return`,
        `    if (routine !== '') return`,
      ],
      [
        'failover.first-host',
        'Connections lead to the server that takes writes, not to the first one.',
        `      this.port = this.server.port\n`,
        '',
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/idempotency.ts',
    ['processes/failover.processes.ts'],
    [
      [
        'failover.replay-before-standby',
        'A retry is not told as success what may be on the primary alone.',
        `from idempotency_keys, pg_logical_emit_message(true, 'annal', left(result, 0))`,
        'from idempotency_keys',
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/store/order-service.ts',
    ['processes/failover.processes.ts'],
    [
      [
        'failover.missing-before-standby',
        'A server that was replaced does not tell that an order is missing.',
        `    await database.query(awaitStandbys)\n`,
        '',
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/database/database.ts',
    ['processes/failover.processes.ts'],
    [
      [
        'failover.read-only-away',
        'A server that takes no writes is told as away, with when to ask again.',
        `|25P03|25006)`,
        `|25P03)`,
      ],
    ],
  ),
]
