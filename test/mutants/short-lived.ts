import { type Mutant, mutantsOf } from './mutant.ts'

export const shortLived: Mutant[] = [
  ...mutantsOf(
    'src/request-context.ts',
    ['processes/short-lived.processes.ts'],
    [
      [
        'short-lived.getter',
        'What a request holds goes with it: its context has a shape that all have.',
        `        log: () => log.child({ requestId }),`,
        `        get log() { return () => log.child({ requestId }) },`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/database/database.ts',
    ['processes/short-lived.processes.ts'],
    [
      [
        'short-lived.timers',
        'What a statement was answered goes with its request: one timer looks after all statements.',
        `    application_name: 'annal',`,
        `    application_name: 'annal', query_timeout: 9_000,`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/database/database.ts',
    ['platform/unanswered.test.ts'],
    [
      [
        'unanswered.patient',
        'A statement that says how long it takes is waited for.',
        `if (wanted.patience !== undefined) answers.bearWith(client, wanted.patience)`,
        ``,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/database/answer-watch.ts',
    ['platform/unanswered.test.ts'],
    [
      [
        'unanswered.given-up',
        'A statement that is not answered is given up.',
        `connection.looks += 1`,
        `connection.looks += 0`,
      ],
      [
        'unanswered.as-before',
        'After a long statement a connection is as others.',
        `if (connection) connection.patience = patience`,
        ``,
      ],
      [
        'unanswered.own-time',
        'Each statement has its own time.',
        `if (!asked || connection.seen?.deref() !== asked) {`,
        `if (!asked) {`,
      ],
    ],
  ),
]
