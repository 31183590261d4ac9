import { type Mutant, mutantsOf } from './mutant.ts'

const TESTS = ['graphql/compiled-reads.test.ts']

export const compiled: Mutant[] = [
  ...mutantsOf('src/graphql/compiled/compile-object.ts', TESTS, [
    ['compiled.page', 'A page holds no row too many.', `edges.splice(take < 0 ? 0 : -1, 1)`, `edges.splice(-1, 1)`],
    [
      'compiled.foreign-rows',
      'A row that a resolver finds is not taken for one that was read.',
      `if (object?.isOfRows && (wanted || isModel(parent))) throw unfit`,
      ``,
    ],
    ['compiled.null', 'Where no null may be, none is.', `if (finished === null) throw unfit`, ``],
  ]),
  ...mutantsOf(
    'src/graphql/compiled/root-field.ts',
    ['graphql/failing-fields.test.ts'],
    [
      [
        'compiled.failed-field',
        'An answer in which a later field fails is left to the executor.',
        `if (came.includes(false)) return false`,
        ``,
      ],
    ],
  ),
  ...mutantsOf(
    'src/graphql/compiled/compile-object.ts',
    ['graphql/failing-fields.test.ts'],
    [['compiled.left-alone', 'No rejection of a field is left to nobody.', `.catch(() => false)`, ``]],
  ),
  ...mutantsOf(
    'src/domain/account/account-service.ts',
    ['graphql/buyers.test.ts'],
    [
      [
        'compiled.buyer-wallet',
        'The answer to a payment shows the wallet as the payment left it.',
        `|| select?.wallet ||`,
        `||`,
      ],
    ],
  ),
  ...mutantsOf('src/graphql/compiled/selection.ts', TESTS, [
    [
      'compiled.two-ways',
      'One relation asked for in two ways is read in both.',
      `if (!isDeepStrictEqual(first, second)) throw unfit`,
      ``,
    ],
  ]),
  ...mutantsOf('src/graphql/compiled/compile-read.ts', TESTS, [
    ['compiled.fresh', 'A token that is good no more is refused.', `assertFresh(field, context)`, ``],
  ]),
  ...mutantsOf(
    'src/graphql/compiled/compile-mutation.ts',
    ['graphql/failing-fields.test.ts'],
    [
      [
        'compiled.mutation-once',
        'A mutation is carried out once, whatever becomes of its answer.',
        `return answer ?? finishByField(draft, { payload, shown }, context, variables)`,
        `return answer`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/graphql/compiled/compile-mutation.ts',
    ['graphql/compiled-mutations.test.ts'],
    [
      [
        'compiled.mutation-fresh',
        'No mutation is open to a token that is good no more.',
        `assertFresh(field, context)`,
        ``,
      ],
      [
        'compiled.shown-nothing',
        'A mutation of whose thing nothing is asked is carried out.',
        `return Object.keys(select).length > 0 ? ({ select } as ShownQuery) : {}`,
        `return { select } as ShownQuery`,
      ],
    ],
  ),
  ...mutantsOf('src/graphql/compiled/collect-fields.ts', TESTS, [
    ['compiled.skip', 'What is skipped is not answered.', `if (name.value === 'skip') return !value`, ``],
  ]),
  ...mutantsOf('src/graphql/compiled/compile-operation.ts', TESTS, [
    [
      'compiled.deciding-values',
      'Each value of a variable that decides has its own answer.',
      `const key = values.join()`,
      `const key = ''`,
    ],
  ]),
  ...mutantsOf(
    'src/graphql/known-queries.ts',
    ['graphql/known-queries.test.ts'],
    [
      [
        'compiled.known-refusals',
        'What is refused is told as ever.',
        `if (!result || result.errors) return false`,
        `if (!result) return false`,
      ],
      [
        'compiled.known-name',
        'An operation is carried out by its name.',
        `if (operationName !== null && operationName !== found.operation.name?.value) return undefined`,
        ``,
      ],
    ],
  ),
  ...mutantsOf(
    'src/graphql/node-context.ts',
    ['graphql/known-queries.test.ts'],
    [['compiled.known-once', 'A request counts once.', `answer ??= ask()`, `answer = ask()`]],
  ),
]
