import { type Mutant, mutantsOf } from './mutant.ts'

export const money: Mutant[] = [
  ...mutantsOf(
    'src/domain/money.ts',
    ['domain/money.test.ts'],
    [
      ['money.scale', 'Amounts have 18 decimals.', `const SCALE = 18`, `const SCALE = 17`],
      ['money.negative', 'A negative amount stays negative.', `return match[1] ? -units : units`, `return units`],
      [
        'money.zeros',
        'An amount is told without needless zeros.',
        `trimEnd(fraction, '0').padEnd(digits, '0')`,
        `fraction`,
      ],
      [
        'money.too-many-decimals',
        'What has more than 18 decimals is no amount.',
        `/^\\d{0,18}$/.test(decimals)`,
        `/^\\d*$/.test(decimals)`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/wallet/quote.ts',
    ['domain/money.test.ts', 'rest/dry-run.test.ts', 'graphql/quotes.test.ts'],
    [
      [
        'money.max-cost',
        'No more is charged than the caller agreed to.',
        `total > toUnits(maxCost)`,
        `total > toUnits(maxCost) * 2n`,
      ],
      [
        'money.max-cost-equal',
        'Just as much as agreed is charged.',
        `total > toUnits(maxCost)`,
        `total >= toUnits(maxCost)`,
      ],
      ['money.can-pay-equal', 'A wallet that holds exactly the cost pays it.', `>= totalOf(cost)`, `> totalOf(cost)`],
      [
        'money.points-first',
        'Points are quoted first.',
        `const points = least(toUnits(funds.points), total)`,
        `const points = least(0n, total)`,
        ['domain/points-first.test.ts', 'rest/dry-run.test.ts', 'graphql/quotes.test.ts'],
      ],
      [
        'money.gas-in-total',
        'Gas is part of what is needed.',
        `toUnits(price) + toUnits(gas)`,
        `toUnits(price) + toUnits(gas) * 0n`,
      ],
      [
        'money.amount-needed',
        'A refusal for funds ends in the amount needed.',
        `Please top up your wallet. Amount needed: \${required}`,
        `Amount needed: \${required}. Please top up your wallet.`,
        ['domain/money.test.ts', 'rest/assets.test.ts', 'rest/orders.test.ts'],
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/store/order-statements.ts',
    ['rest/refunds.test.ts'],
    [
      [
        'money.payment-from-what-is-held',
        'A payment is made from the balance that is there once the wallet is held.',
        `points = held.points + movement.points`,
        `points = w.points + movement.points`,
      ],
      [
        'money.payment-to-the-gone',
        'A payment that a receiver that is gone cannot be told of is given up, and no success.',
        `a.webhook_url is not null as calls`,
        `a.webhook_url is not null and a.webhook_disabled_at is null as calls`,
        ['delivery/deliveries.test.ts'],
      ],
    ],
  ),
  ...mutantsOf(
    'src/rest/fields.ts',
    ['rest/refunds.test.ts'],
    [
      [
        'money.empty-amount',
        'An amount that is empty is none that was left out.',
        `      const value = text(name)
      if (value === undefined || AMOUNT`,
        `      const value = text(name) || undefined
      if (value === undefined || AMOUNT`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/store/order-service.ts',
    ['graphql/quotes.test.ts'],
    [
      [
        'money.receipt-of-another',
        'A confirmation that charged nothing never tells a charge.',
        `isCharged: made === uuid`,
        `isCharged: made === uuid || context.replayed`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/store/refund-statements.ts',
    ['rest/refunds.test.ts'],
    [
      [
        'money.refund-at-most-paid',
        'No more is given back than is left of what was paid.',
        `where total > 0 and total <= points_paid + num_paid - points_before - num_before`,
        `where total > 0`,
      ],
      [
        'money.refund-num-first',
        'What was spent last comes back first.',
        `least(total, num_paid - num_before) as num, total - least(total, num_paid - num_before) as points`,
        `total - least(total, points_paid - points_before) as num, least(total, points_paid - points_before) as points`,
      ],
      [
        'money.refund-ends',
        'An order of which nothing is left is refunded.',
        `where o.id = refund.id and refund.is_whole`,
        `where o.id = refund.id and refund.is_whole and false`,
      ],
    ],
  ),
  ...mutantsOf(
    'prisma/migrations/20261122205500_give_back_what_was_taken/migration.sql',
    ['rest/refunds.test.ts'],
    [
      [
        'money.give-back-what-was-taken',
        'A grant that a charge took nothing of gets nothing back.',
        `least(rest, coalesce(lot.units, 0))`,
        `least(rest, lot.units)`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/wallet/points-sql.ts',
    ['rest/point-expiry.test.ts'],
    [
      [
        'money.points-first-charged',
        'Points are charged first.',
        `least(\${points}, \${amount})`,
        `least(0 * \${points}, \${amount})`,
        ['domain/points-first.test.ts', 'domain/charging.test.ts', 'rest/orders.test.ts'],
      ],
      [
        'money.overdue',
        'Points whose time is over pay for nothing.',
        `points - \${overdueSql(wallet, at)}`,
        `points - 0`,
      ],
      [
        'money.grants-unused',
        'What pays for a charge is noted of its grants.',
        `points_expire_at is not null then use_grants`,
        `points_expire_at is null then use_grants`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/wallet/deposit-statements.ts',
    ['processes/deposits.processes.ts'],
    [
      [
        'money.deposit-early',
        'A deposit counts only when it is deep enough.',
        `d.status <> 'CREDITED' and d.block_number <= $due`,
        `d.status <> 'CREDITED' and d.block_number <= $due + 1`,
      ],
      [
        'money.deposit-race',
        'Of two scans of the same blocks one counts.',
        `where key = $setting and value = $from returning key`,
        `where key = $setting and $from is not null returning key`,
      ],
      [
        'money.deposit-stale',
        'Who looked at the chain before the scan was moved credits nothing.',
        `where key = $setting and value = $from for no key update`,
        `where key = $setting and $from is not null for no key update`,
      ],
      [
        'money.deposit-book',
        'A deposit is booked against where it came from.',
        `book: 'DEPOSITS',`,
        `book: 'REVENUE',`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/wallet/deposit-statements.ts',
    ['processes/deposits-reorg.processes.ts'],
    [
      [
        'money.release-whole',
        'A frozen deposit that is back settles what its wallet owes for it.',
        `amount - shortfall - written_off as gain`,
        `amount - written_off as gain`,
      ],
      [
        'money.release-borne',
        'What the platform bore of a frozen deposit comes back to the platform.',
        `amount - shortfall - written_off as gain`,
        `amount - shortfall as gain`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/wallet/deposit-balance-statements.ts',
    ['processes/deposits-contract.processes.ts'],
    [
      [
        'money.contract-earlier',
        'What lay on an address before balances were looked at is not credited.',
        `where balance > known and not is_earlier`,
        `where balance > known`,
      ],
      [
        'money.contract-spent',
        'What an own key spent is not missed as income.',
        `came.sum - went.sum as known`,
        `came.sum as known`,
      ],
      [
        'money.contract-left',
        'What a contract sent before an account was deleted is in the books.',
        `or \${lyingSql(wallet)} < 0)`,
        `or \${lyingSql(wallet)} < -1000000)`,
        ['processes/coins.processes.ts'],
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/wallet/deposit-statements.ts',
    ['domain/deposit-books.test.ts'],
    [
      [
        'money.deposit-outcome-amount',
        'A transaction that comes back with another amount brings that one.',
        `(d.wallet_id, d.amount) is distinct from (w.user_id, i.amount)`,
        `d.wallet_id is distinct from w.user_id`,
      ],
      [
        'money.deposit-outcome-owner',
        'A transaction that comes back for somebody else brings nothing to whom it was for before.',
        `(d.wallet_id, d.amount) is distinct from (w.user_id, i.amount)`,
        `d.amount is distinct from i.amount`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/wallet/deposit-books.ts',
    ['domain/deposit-books.test.ts'],
    [
      [
        'money.deposit-slips',
        'What another process credits before the scan goes back is frozen, and what it finds is forgotten.',
        `(await hold(query, place)) ? work(query) : []`,
        `(await database.query(holdScan, { setting: settingOf(place.chainId), from: place.position })).length > 0 ? work(query) : []`,
      ],
      [
        'money.deposit-back-early',
        'A scan goes back once nothing is credited any more from blocks that are gone.',
        `if (isDone) await`,
        `if (isDone || place) await`,
      ],
      [
        'money.contract-parts',
        'What is back in parts of what a contract sent settles what its wallet owes for it.',
        `if (row?.items.length) await`,
        `if (row === null) await`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/wallet/deposit-balance-statements.ts',
    ['domain/deposit-books.test.ts'],
    [
      [
        'money.contract-twice',
        'What a contract sent, was lost and is back settles what its wallet owes for it.',
        `d.status = 'FROZEN' and d.block_number is null`,
        `d.status = 'FROZEN' and d.block_number is not null`,
      ],
      [
        'money.contract-more',
        'Deposits of contracts that were lost come back as far as an address has too much.',
        `lost where sum <= excess`,
        `lost where sum <= 1000 * excess`,
      ],
      [
        'money.contract-later',
        'What a contract sent is found once, also by who looks at an earlier block after it.',
        `balance - known - later.sum as excess`,
        `balance - known as excess`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/wallet/deposit-freeze-statements.ts',
    ['domain/deposit-books.test.ts'],
    [
      [
        'money.contract-parts-more',
        'No more is taken for what a contract had sent than is back of it and owed for it.',
        `least(shortfall, amount - earlier) as taken`,
        `amount - earlier as taken`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/wallet/deposit-freeze-statements.ts',
    ['processes/deposits-reorg.processes.ts'],
    [
      [
        'money.freeze-below-zero',
        'A wallet that has spent a deposit which is frozen gives what it has, and no more.',
        `set num = w.num - least(w.num, sum.amount)`,
        `set num = w.num - sum.amount`,
      ],
      [
        'money.freeze-book',
        'A frozen deposit is not among the coins in the books.',
        `case kind when 'TOKEN' then 0 else frozen_deposits.amount end`,
        `case kind when 'TOKEN' then 0 else taken end`,
      ],
      [
        'money.freeze-pending',
        'What did not count and was lost is not credited.',
        `where d.status = 'PENDING' and d.block_number > $height returning`,
        `where d.status = 'PENDING' and d.block_number > $height + 1000 returning`,
      ],
      [
        'money.freeze-nothing',
        'What the chain has lost is taken out of the books.',
        `where status = 'CREDITED' and block_number > $height`,
        `where status = 'CREDITED' and block_number > $height + 1000`,
      ],
      [
        'money.collect-more',
        'An operator takes no more than is owed for a frozen deposit.',
        `least(w.num, d.shortfall) as taken`,
        `w.num as taken`,
      ],
      [
        'money.collect-from-what-is-held',
        'What is owed is taken from the balance that is there once the wallet is held.',
        `set num = l.num - l.taken`,
        `set num = w.num - l.taken`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/wallet/coin-service.ts',
    ['domain/deposit-books.test.ts'],
    [
      [
        'money.gathered-frozen',
        'What is frozen while its wallet is waited for is not gathered.',
        `whileHeld([move.sender], (held) => storeMove(held, move))`,
        `storeMove(query, move)`,
      ],
      [
        'money.resumed-frozen',
        'What is frozen while its wallet is waited for has no move taken up again.',
        `whileHeld(addresses, (held) => held(resumeMoves`,
        `whileHeld([], (held) => held(resumeMoves`,
      ],
      [
        'money.displaced-settled',
        'What is settled while its move is being displaced is taken back.',
        `await held(holdMoves, { ids })`,
        `await held(holdMoves, { ids: [] })`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/account/account-mail.ts',
    ['processes/withdrawals.processes.ts'],
    [
      [
        'money.withdrawal-fee-told',
        'Whoever’s withdrawal failed is told whether the fee came back.',
        `keepsFee: transactionHash !== null`,
        `keepsFee: false`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/wallet/coin-move-statements.ts',
    ['processes/coins.processes.ts'],
    [
      [
        'money.coins-changed',
        'Where the chain has another amount than the books have under way, the books take that one.',
        `case m.kind when 'GATHERING' then \${leavesSql} else m.amount end as amount`,
        `m.amount as amount`,
      ],
      [
        'money.coins-undone',
        'What was booked of a move that lost its block is taken back.',
        `where d.before in ('FINAL', 'FAILED')`,
        `where d.before in ('FAILED')`,
      ],
      [
        'money.filler-sent',
        'What takes the place of a payment that no block has room for is what is sent.',
        `then t.value = (select min(o.value)`,
        `then t.value = (select max(o.value)`,
        ['processes/withdrawals.processes.ts'],
      ],
      [
        'money.refused-after-all',
        'A withdrawal that was confirmed, lost its block and is refused in another one is given back.',
        `and x.status = 'CONFIRMED' and s.arrived = 0`,
        `and x.status = 'CONFIRMED' and s.arrived < 0`,
        ['processes/withdrawals.processes.ts'],
      ],
      [
        'money.borne-no-more',
        'The platform bears of a payment what arrived.',
        `m.wallet_id is null as borne`,
        `false as borne`,
        ['processes/coins-restore.processes.ts'],
      ],
      [
        'money.coins-fee',
        'The fee of a gathering is the platform’s.',
        `{ book: 'GAS', currency: 'NUM', amount: '-fee' }`,
        `{ book: 'DEPOSITS', currency: 'NUM', amount: '-fee' }`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/invariants/book-invariants.ts',
    ['processes/withdrawals.processes.ts'],
    [
      [
        'money.check-refused',
        'The books are told of where a withdrawal counts as confirmed and its coins were refused.',
        `where x.status = 'CONFIRMED' and m.status = 'FAILED'`,
        `where x.status = 'WAITING' and m.status = 'FAILED'`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/wallet/stranded-move-statements.ts',
    ['processes/coins.processes.ts'],
    [
      [
        'money.coins-resumed',
        'A move that was set aside goes on once its coins are back.',
        `<= \${lyingSql('w')}\``,
        `< \${lyingSql('w')}\``,
      ],
      [
        'money.coins-not-credited-yet',
        'A move that was set aside goes on with no less than the chain has for it, though less is credited.',
        `and \${leavesSql} <= o.free`,
        `and \${leavesSql} <= 0 * o.free`,
      ],
      [
        'money.coins-less',
        'A move that was set aside goes on with as much of what is signed as is there.',
        `order by amount desc`,
        `order by amount`,
      ],
      [
        'money.coins-left-behind',
        'Deposits whose move was set aside are gathered by another.',
        `set gathered_by = null from`,
        `set gathered_by = d.gathered_by from`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/wallet/withdrawal-statements.ts',
    ['processes/withdrawals.processes.ts'],
    [
      [
        'money.withdrawal-race',
        'A withdrawal is taken from the wallet that was looked at.',
        `and w.event_sequence = $sequence and w.num >= $amount + $fee`,
        `and $sequence >= 0 and w.num >= 0 * ($amount + $fee)`,
      ],
      [
        'money.withdrawal-untaken',
        'What is signed for and taken by no node is told of.',
        `m.status = 'SIGNED' and m.created_at < now()`,
        `m.status = 'BROADCAST' and m.created_at < now()`,
      ],
      [
        'money.withdrawal-passed',
        'What the treasury cannot pay keeps back nothing that it can.',
        `and (\${isPayableSql} or gas_limit > $mostGas)`,
        `and ($free + $price + $mostGas > 0 or \${isPayableSql})`,
      ],
      [
        'money.withdrawal-cancelled-in-doubt',
        'A withdrawal that the chain may have paid already is not cancelled.',
        ` and \${isTreasuryCertainSql}`,
        ``,
        ['processes/coins-restore.processes.ts'],
      ],
      [
        'money.withdrawal-cancelled-late',
        'What is signed for cannot be cancelled.',
        `where x.id = $withdrawal and x.wallet_id = $user and x.status = 'WAITING'`,
        `where x.id = $withdrawal and x.wallet_id = $user and x.status in ('WAITING', 'SENDING')`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/wallet/withdrawal-service.ts',
    ['processes/withdrawals.processes.ts'],
    [
      [
        'money.withdrawal-cooling',
        'Nothing is withdrawn right after a change of password.',
        `facts.cooling > 0 &&`,
        `facts.cooling < 0 &&`,
      ],
      [
        'money.withdrawal-day',
        'Only so much is withdrawn in a day.',
        `toUnits(amount) > toUnits(facts.left) &&`,
        `toUnits(amount) < 0n &&`,
      ],
      [
        'money.withdrawal-foreign',
        'Withdrawals are their owner’s alone.',
        `where: { id: uuid, walletId: actor.id }`,
        `where: { id: uuid }`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/wallet/statement-service.ts',
    ['graphql/transfers.test.ts', 'graphql/noted-balances.test.ts'],
    [
      [
        'money.statement-foreign',
        'A statement shows one’s own transfers only.',
        `where wallet_id = $user and transfer_id < coalesce`,
        `where wallet_id is not null and transfer_id < coalesce`,
      ],
      [
        'money.statement-balance',
        'Each line tells the balance after it.',
        `above.num + page.num - sum(page.num) over down as balance_num`,
        `above.num - sum(page.num) over down as balance_num`,
      ],
      [
        'money.statement-noted',
        'A page counts from the noted balance that is nearest, and up to it.',
        `and transfer_id <= (select transfer_id from nearest)`,
        `and transfer_id < (select transfer_id from nearest)`,
      ],
    ],
  ),
  ...mutantsOf(
    'prisma/migrations/20261122231500_note_balances/migration.sql',
    ['graphql/noted-balances.test.ts'],
    [
      [
        'money.noted-balance',
        'What is noted at a transfer is the balance after it, not after those that came with it.',
        `w."num" - newer."num", w."points" - newer."points"`,
        `w."num", w."points"`,
      ],
    ],
  ),
  ...mutantsOf(
    'prisma/migrations/20261122231500_note_balances/migration.sql',
    ['processes/migrated-balances.processes.ts'],
    [
      [
        'money.noted-earlier',
        'Balances from before go on from where a batch ended.',
        `sum(l."points") OVER "up" + CASE WHEN l."wallet_id" = "start"."wallet_id" THEN "start"."points" ELSE 0 END AS "points"`,
        `sum(l."points") OVER "up" AS "points"`,
      ],
    ],
  ),
  ...mutantsOf(
    'prisma/migrations/20261126213500_end_refused_withdrawals_again/migration.sql',
    ['processes/migrated-withdrawals.processes.ts'],
    [
      [
        'money.refused-earlier',
        'What was refused after it had been confirmed is given back by an upgrade, and nothing that arrived.',
        `AND m."status" = 'FAILED'`,
        ``,
      ],
    ],
  ),
  ...mutantsOf(
    'prisma/migrations/20261125090000_note_coins/migration.sql',
    ['processes/coins.processes.ts'],
    [
      [
        'money.noted-coins',
        'What leaves for the treasury is noted.',
        `('DEPOSITS', 'UNDER_WAY', 'TREASURY', 'SHORTFALL') AND NEW`,
        `('DEPOSITS', 'UNDER_WAY', 'SHORTFALL') AND NEW`,
      ],
    ],
  ),
  ...mutantsOf(
    'prisma/migrations/20261125090000_note_coins/migration.sql',
    ['processes/deposits-reorg.processes.ts'],
    [
      [
        'money.noted-shortfall',
        'What wallets owe for deposits is noted.',
        `"shortfall" = "shortfall" - CASE NEW."book"`,
        `"shortfall" = "shortfall" + CASE NEW."book"`,
      ],
    ],
  ),
  ...mutantsOf(
    'prisma/migrations/20261125090000_note_coins/migration.sql',
    ['processes/migrated-coins.processes.ts'],
    [
      [
        'money.noted-coins-earlier',
        'What is in the books when they begin to be noted is in the note.',
        `-sum("amount") FILTER (WHERE "book" = 'UNDER_WAY')`,
        `sum("amount") FILTER (WHERE "book" = 'UNDER_WAY')`,
      ],
    ],
  ),
]
