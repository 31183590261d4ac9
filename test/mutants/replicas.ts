import { type Mutant, mutantsOf } from './mutant.ts'

const REPLICAS = ['processes/replicas.processes.ts']
const MAY_LAG = ['platform/may-lag.test.ts']

export const replicas: Mutant[] = [
  ...mutantsOf(
    'src/platform/replicas/replica.ts',
    ['processes/replicas-exchanged.processes.ts'],
    [
      [
        'replicas.cut',
        'What is known of a replica is not held of connections to another one behind the same address.',
        `for (const client of connections) streamOf(client).destroy()`,
        ``,
      ],
      [
        'replicas.promoted',
        'A replica that takes writes is not read from.',
        `if (!isStandby) return`,
        `if (place === '') return`,
      ],
    ],
  ),
  ...mutantsOf('src/platform/replicas/read-floors.ts', REPLICAS, [
    [
      'replicas.own-writes',
      'Who has written is shown it wherever they ask.',
      `place: own === undefined ? forAll : later(forAll, BigInt(own))`,
      `place: forAll`,
    ],
    [
      'replicas.withdrawn',
      'What was made private or deleted is shown to nobody else, however far behind a replica is.',
      `    learn(row!)\n`,
      `\n`,
    ],
    [
      'replicas.lost-positions',
      'Who has written is shown it also after positions were lost with a crash of the primary.',
      `since === null ? place :`,
      `since === null ? shared.place :`,
    ],
    [
      'replicas.position-of-others',
      'Who sends the position of a write is shown it.',
      `floor: { ...floor, place: later(floor.place, wanted) }`,
      `floor: { ...floor, place: wanted === 0n ? wanted : floor.place }`,
    ],
  ]),
  ...mutantsOf('src/platform/replicas/replicas.ts', REPLICAS, [
    [
      'replicas.absent',
      'What a replica does not have is looked for at the primary.',
      `if (!hasFound(answer)) return settle('absent')`,
      `if (!hasFound(answer)) count('absent')`,
    ],
    [
      'replicas.far-behind',
      'A replica that is too far behind is not read from.',
      `(lagOf(replica) ?? Number.POSITIVE_INFINITY) <= maxLag)`,
      `lagOf(replica) !== undefined)`,
    ],
    [
      'replicas.timeline',
      'A replica that follows another timeline is not read from.',
      `return here?.timeline === floor.timeline && here.place >= floor.place`,
      `return here !== undefined && here.place >= floor.place`,
    ],
    [
      'replicas.trouble',
      'A replica that raises something or is away fails no request.',
      `        return settle('failed')`,
      `        throw error`,
    ],
  ]),
  ...mutantsOf('src/platform/reads/may-lag.ts', MAY_LAG, [
    [
      'replicas.money',
      'Balances are read from the primary.',
      `Wallet: new Set(['userId', 'address'])`,
      `Wallet: new Set(['userId', 'address', 'num', 'points'])`,
      [...MAY_LAG, ...REPLICAS],
    ],
    [
      'replicas.other-models',
      'Models that nobody thought about are read from the primary.',
      `model in mayLagFields`,
      `model !== 'Wallet'`,
    ],
  ]),
  ...mutantsOf('src/platform/reads/scope.ts', MAY_LAG, [
    [
      'replicas.fields',
      'What filters or selects by a field that must be as it is now is read from the primary.',
      `if (!mayLagField(model.name, field.name)) draft.mayLag = false`,
      ``,
    ],
  ]),
  ...mutantsOf('src/graphql/lagging.ts', MAY_LAG, [
    [
      'replicas.operations',
      'An operation that asks for anything that decides something is read from the primary.',
      `.every((name)`,
      `.some((name)`,
    ],
    [
      'replicas.noted',
      'That somebody has written is noted for all processes.',
      `actor.kind === 'user' ? [actor.id] : []`,
      `[]`,
      REPLICAS,
    ],
    [
      'replicas.told',
      'Whoever writes is told the position.',
      `if (position !== undefined) tellPosition?.(position)`,
      `if (position === undefined) tellPosition?.(position!)`,
      REPLICAS,
    ],
  ]),
  ...mutantsOf('src/domain/event/event-fanout.ts', REPLICAS, [
    [
      'replicas.feeds',
      'Whoever is told of something by their feed is shown it when they ask.',
      `if (rows.length > 0) await database.replicas.noteWrites`,
      `if (rows.length > 1e9) await database.replicas.noteWrites`,
    ],
  ]),
  ...mutantsOf('src/domain/asset/history-service.ts', REPLICAS, [
    [
      'replicas.verification',
      'A history is held against the chain as it is now.',
      `return database.replicas.upToDate(() => verify(actor, nid))`,
      `return verify(actor, nid)`,
    ],
  ]),
]
