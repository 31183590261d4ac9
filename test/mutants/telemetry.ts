import { type Mutant, mutantsOf } from './mutant.ts'

export const telemetry: Mutant[] = [
  ...mutantsOf(
    'src/platform/telemetry/metrics-handler.ts',
    ['server/metrics.test.ts'],
    [
      [
        'telemetry.hidden',
        'Without a token metrics are told at the operators’ port alone.',
        `req.socket.localPort === port ? 'let in' : 'hide'`,
        `req.socket.localPort !== 0 ? 'let in' : 'hide'`,
      ],
      [
        'telemetry.token',
        'Where there is a token nobody reads metrics without it.',
        `sent !== undefined && isSame(sent, token)`,
        `sent !== undefined || isSame('', token)`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/telemetry/books.ts',
    ['server/metrics.test.ts'],
    [
      [
        'telemetry.counted-once',
        'A transfer that is settled is counted once.',
        `return rows.filter((row) => !row.is_settled)`,
        `return rows.filter((row) => row.size > 0)`,
      ],
      [
        'telemetry.not-yet-settled',
        'A transfer of the last minute is counted, too.',
        `for (const row of recent) add(now, row)`,
        ``,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/telemetry/collect.ts',
    ['server/metrics.test.ts'],
    [['telemetry.patience', 'A source that does not answer is not waited for.', `late.reject(`, `void (`]],
  ),
  ...mutantsOf(
    'src/graphql/use-request-watch.ts',
    ['server/metrics.test.ts'],
    [
      [
        'telemetry.bounded-names',
        'What GraphQL is asked for is named by the schema, never by the caller.',
        `first.name.value : 'other'`,
        `(first.alias ?? first.name).value : 'other'`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/telemetry/request-telemetry.ts',
    ['server/traces.test.ts'],
    [
      [
        'telemetry.routes',
        'A span names a request by its route, never by its path.',
        "const name = facts['http.route'] ?",
        "const name = req.url ? req.url : facts['http.route'] ?",
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/enqueue-sql.ts',
    ['server/traces.test.ts'],
    [
      [
        'telemetry.jobs',
        'A job goes on with the trace of what caused it.',
        `jsonb_build_object('trace', $trace)`,
        `jsonb_build_object('trace', nullif($trace, $trace))`,
      ],
    ],
  ),
]
