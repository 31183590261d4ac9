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
    'src/platform/telemetry/metric-statements.ts',
    ['server/metrics.test.ts'],
    [
      [
        'telemetry.silent-process',
        'A process that says nothing any more has no role.',
        'p.seen_at > now()',
        'p.seen_at < now()',
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
        `jsonb_build_object('trace', \${trace})`,
        `jsonb_build_object('trace', nullif(\${trace}, \${trace}))`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/processes.ts',
    ['processes/roles.processes.ts'],
    [
      [
        'processes.missing-role',
        'A role that nobody has is told.',
        `allRoles.filter((role) => !processes.some(`,
        `allRoles.filter((role) => processes.length === 0 && !processes.some(`,
      ],
      [
        'processes.silent',
        'A process that says nothing counts no more.',
        `from processes where seen_at > now() - make_interval(secs => $silent)`,
        `from processes where $silent > 0`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/loops.ts',
    ['processes/roles.processes.ts'],
    [
      [
        'processes.roles-of-watches',
        'Whoever lacks the role of the relay leaves the chain alone.',
        `if (roles.has(role)) parts.chain`,
        `if (roles.size > 0) parts.chain`,
      ],
      [
        'processes.roles-of-queues',
        'Whoever lacks the role of a queue leaves its jobs alone.',
        `.filter((name) => roles.has(queues[name].role))`,
        `.filter((name) => roles.has(queues[name].role) || roles.has('jobs'))`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/workers/crew.ts',
    ['processes/crew.processes.ts'],
    [['processes.unborn', 'A worker that the machine could not start is tried again.', `else end(error.message)`, ``]],
  ),
  ...mutantsOf(
    'src/platform/workers/crew.ts',
    ['processes/workers.processes.ts'],
    [
      [
        'processes.replaced',
        'A worker that ends is replaced.',
        `if (hasServed) replace(place`,
        `if (!hasServed) replace(place`,
      ],
    ],
  ),
  ...mutantsOf(
    'bin/annal.js',
    ['processes/started-by-npx.processes.ts'],
    [
      [
        'processes.npx',
        'A service that npx started ends when npx is told to.',
        `    if (process.ppid === shell) return\n`,
        `    return\n`,
      ],
      [
        'processes.not-by-npx',
        'A service that somebody else started goes on when the shell that started it ends.',
        `!/^'?annal'?$/.test(process.env.npm_lifecycle_script)`,
        `false`,
      ],
    ],
  ),
]
