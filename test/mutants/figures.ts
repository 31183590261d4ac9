import { type Mutant, mutantsOf } from './mutant.ts'

export const figures: Mutant[] = mutantsOf(
  'src/domain/figures/figure-statements.ts',
  ['processes/figures.processes.ts'],
  [
    [
      'figures.grace',
      'What is not over is not kept.',
      `slotOfSql(\`now() - \${GRACE}\`)`,
      `slotOfSql(\`now() + interval '20 minutes'\`)`,
    ],
    [
      'figures.beginning',
      'How far back there is anything to count does not hang on an identifier.',
      '(select min(started_at) from _prisma_migrations)',
      '(select created_at from users order by id limit 1)',
    ],
    [
      'figures.end',
      'What happens at the end of ten minutes belongs to the next ones.',
      `o.created_at >= s.since and o.created_at < s.until`,
      `o.created_at >= s.since and o.created_at <= s.until`,
    ],
    [
      'figures.unkept',
      'What is kept is not counted again.',
      `     except select starts_at from kept_figures where starts_at >= (select since from start)\n`,
      ``,
    ],
    [
      'figures.gaps',
      'Between what is not kept, what is kept is not counted again.',
      `as numbered group by first`,
      `as numbered group by true`,
    ],
    [
      'figures.forgotten',
      'What was given up stays counted when it is forgotten.',
      `set given_up = k.given_up + gone.n`,
      `set given_up = k.given_up`,
    ],
    [
      'figures.delivered',
      'What is still tried is not told as delivered.',
      `deliveries - pending - given_up as delivered`,
      `deliveries - given_up as delivered`,
    ],
    [
      'figures.paid-late',
      'An order is counted as paid where it was paid, not where it was made.',
      `slotOfSql('o.paid_at')`,
      `slotOfSql('o.created_at')`,
    ],
  ],
)
