import { type Mutant, mutantsOf } from './mutant.ts'

const TESTS = ['platform/sweeps.test.ts']
const DEPOSITS = ['processes/deposits.processes.ts']
const FILES = ['processes/content-store.processes.ts']
const UPLOADS = ['platform/upload-folder.test.ts']
const S3 = ['files/s3-store.test.ts']
const KUBO = ['files/kubo-store.test.ts']
const NODES = ['files/replicated-store.test.ts']
const STUCK = ['platform/stuck-files.test.ts']
const SEEK = ['processes/relay-seek.processes.ts']
const MAILS = ['delivery/mail-outage.test.ts']

export const isolation: Mutant[] = [
  ...mutantsOf(
    'src/domain/asset/file-jobs-sql.ts',
    ['platform/fair-jobs.test.ts'],
    [
      [
        'isolation.files-in-turn',
        'The many files of one account are not made before the one of another.',
        `group: owner, fairly: true }`,
        `group: owner }`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/jobs/enqueue-function.ts',
    ['platform/fair-jobs.test.ts'],
    [
      [
        'isolation.most-waits-longest',
        'Whoever has more waiting comes later, not sooner.',
        `bodyOf(\`-(SELECT count(*)`,
        `bodyOf(\`(SELECT count(*)`,
      ],
    ],
  ),
  ...mutantsOf('src/domain/sweep/sweeper.ts', TESTS, [
    [
      'isolation.others',
      'An item of a sweep that fails keeps no other from being dealt with.',
      `      if (items.length === 1) return [{ item: items[0]!, error }]`,
      `      if (items.length === 1) throw error`,
    ],
    [
      'isolation.told-once',
      'An item of a sweep that fails again is not told again.',
      `filter(({ attempts }) => attempts === 1)`,
      `filter(({ attempts }) => attempts > 0)`,
    ],
    [
      'isolation.forgotten',
      'An item that worked in the end is not shown as one that fails.',
      `if (pass.done.size > 0) await database.query(forgetSetbacks`,
      `if (pass.done.size > 1e9) await database.query(forgetSetbacks`,
    ],
  ]),
  ...mutantsOf('src/domain/sweep/sweep.ts', TESTS, [
    [
      'isolation.rest',
      'An item that failed is not tried before its pause is over.',
      `and s.next_attempt_at > now())`,
      `and s.next_attempt_at < now())`,
    ],
  ]),
  ...mutantsOf('src/domain/sweep/setback-statements.ts', TESTS, [
    [
      'isolation.pauses-grow',
      'The pauses of an item that fails again and again grow.',
      `2 ^ least(s.attempts, 30)`,
      `1 ^ least(s.attempts, 30)`,
    ],
  ]),
  ...mutantsOf('src/domain/maintenance.ts', TESTS, [
    [
      'isolation.long-history',
      'A history that is longer than one statement erases is erased to its end.',
      `unfinished: itemsOf(rows.filter(({ has_more }) => has_more))`,
      `unfinished: []`,
    ],
  ]),
  ...mutantsOf('src/domain/sweep/setback-statements.ts', DEPOSITS, [
    [
      'isolation.deposit-shown',
      'A deposit that the books refuse is shown for as long as they do.',
      `s.sweep = 'credit-deposits' and exists`,
      `false and exists`,
    ],
  ]),
  ...mutantsOf('src/domain/account/account-mail.ts', MAILS, [
    [
      'isolation.notice-traced',
      'A notice of a security event that its recipient’s server refuses leaves a trace.',
      `(asked.has(job.template) ? sent.catch(dropIfRefused(log, id)) : sent)`,
      `sent.catch(dropIfRefused(log, id))`,
    ],
  ]),
  ...mutantsOf('src/platform/jobs/jobs.ts', MAILS, [
    [
      'isolation.told-hourly',
      'A job that fails again and again is told of once an hour.',
      `Date.now() - toldAt < TELL_EVERY_MS`,
      `Date.now() - toldAt < 0`,
    ],
    [
      'isolation.hopeless',
      'Work that no further attempt can carry out is given up at once.',
      `const isHopeless = error instanceof HopelessError`,
      `const isHopeless = false`,
    ],
  ]),
  ...mutantsOf(
    'src/platform/database/database.ts',
    ['platform/hot-reads.test.ts'],
    [
      [
        'isolation.fallback-untold',
        'A read that is left to Prisma is counted.',
        `    fallbacks.set(read, (fallbacks.get(read) ?? 0) + 1)\n`,
        '',
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/reads/page.ts',
    ['platform/hot-reads.test.ts'],
    [
      [
        'isolation.fallback-of-pages',
        'What is asked for most is not left to Prisma.',
        `if (order.some(([field]) => !field.required)) throw unsupported`,
        `if (order.length > 1) throw unsupported`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/reads/page.ts',
    ['graphql/pages.test.ts'],
    [
      [
        'isolation.page-beyond-what-left',
        'A page leaves out nothing for an item that has left the list.',
        `cursor === undefined ? encodeNatural : encodeBeyond`,
        `encodeNatural`,
      ],
      [
        'isolation.page-within-what-left',
        'A page within a row goes on beyond an item that has left the list.',
        `free || (isBeyond && keys.some((key) => key.every(tied)))`,
        `free`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/platform/jobs/enqueue-function.ts',
    ['platform/enqueue.test.ts'],
    [
      [
        'isolation.enqueued',
        'A job is filled in as the queue library fills it in.',
        `q.retry_delay_max, q.expire_seconds, q.deletion_seconds, due + make_interval`,
        `q.retry_delay_max, q.deletion_seconds, q.expire_seconds, due + make_interval`,
      ],
      [
        'isolation.enqueue-newer',
        'An older version leaves alone what a newer one has made for its jobs.',
        `(SELECT version FROM jobs.version) = `,
        `(SELECT version FROM jobs.version) >= `,
      ],
      [
        'isolation.enqueue-locked',
        'Only one process at a time makes the function that fills in jobs.',
        `  \${lockForTransaction};\n`,
        '',
      ],
    ],
  ),
  ...mutantsOf('src/platform/jobs/job-statements.ts', MAILS, [
    [
      'isolation.letters-end',
      'A dead letter loses its addresses after a month.',
      `and created_on > now() - interval '30 days'`,
      `and created_on > now() - interval '30 years'`,
    ],
  ]),
  ...mutantsOf('src/chain/relay/histories.ts', SEEK, [
    [
      'isolation.long-chain-history',
      'A step of the relay reads a bounded part of a long history.',
      `const PAGES_AT_ONCE = 4`,
      `const PAGES_AT_ONCE = 4_000`,
    ],
  ]),
  ...mutantsOf('src/chain/relay/sign.ts', SEEK, [
    [
      'isolation.unread-history',
      'Nothing is signed again while the history that would have it is being read.',
      ` && !unread.has(commit_id)`,
      ``,
    ],
  ]),
  ...mutantsOf('src/chain/registry/registry.ts', SEEK, [
    [
      'isolation.registry-cannot-tell',
      'A registry that cannot tell of an asset is not taken for one that has nothing.',
      `if (error instanceof RpcError) return undefined\n      throw error\n    })`,
      `if (error instanceof RpcError) return []\n      throw error\n    })`,
    ],
  ]),
  ...mutantsOf(
    'src/domain/asset/keep.ts',
    ['rest/short-grace.test.ts'],
    [
      [
        'isolation.renewed',
        'What stood still on its way is stored once more after it is pinned.',
        `if (seconds >= graceSeconds / 2)`,
        `if (seconds < 0)`,
      ],
    ],
  ),
  ...mutantsOf(
    'src/domain/maintenance.ts',
    ['rest/short-grace.test.ts'],
    [
      [
        'isolation.own-grace',
        'Garbage lies for as long as the operator wants.',
        `contentStore.collectGarbage(pinned(), graceSeconds, {`,
        `contentStore.collectGarbage(pinned(), 3_600, {`,
      ],
    ],
  ),
  ...mutantsOf('src/files/content-store.ts', FILES, [
    [
      'isolation.unread-block',
      'What may hang on a block that cannot be read is kept.',
      `(await oldestBelow(blocks, unread)) - grace`,
      `Date.now()`,
    ],
  ]),
  ...mutantsOf('src/files/content-store.ts', FILES, [
    [
      'isolation.piece-in-use',
      'The memory of a block is not used again before the block is written.',
      `isNew = (await placed).writtenAt !== undefined
        source.giveBack?.(bytes as Uint8Array)`,
      `source.giveBack?.(bytes as Uint8Array)
        isNew = (await placed).writtenAt !== undefined`,
    ],
  ]),
  ...mutantsOf(
    'src/platform/passwords.ts',
    ['platform/passwords.test.ts'],
    [
      [
        'isolation.hashing',
        'Who signs in leaves a processor to everybody else where there are two.',
        `Math.min(2, processors - 1)`,
        `Math.min(2, processors)`,
      ],
    ],
  ),
  ...mutantsOf('src/platform/http/piece-pool.ts', UPLOADS, [
    [
      'isolation.piece-twice',
      'Memory that was given back twice is used by one alone.',
      `if (lent.delete(piece) && buffer`,
      `if (buffer`,
    ],
  ]),
  ...mutantsOf('src/platform/http/upload-folder.ts', UPLOADS, [
    [
      'isolation.piece-of-parser',
      'Memory that the reader of a form goes on using is not freed.',
      `byteLength >= OWN_BYTES && `,
      ``,
    ],
    [
      'isolation.piece-shared',
      'Memory is freed by who has it for themselves.',
      `byteLength === buffer.byteLength && `,
      ``,
    ],
    [
      'isolation.short-write',
      'What a disk did not take of a write is written again, or refused.',
      `if (bytesWritten < count) await`,
      `if (bytesWritten > count) await`,
    ],
  ]),
  ...mutantsOf('src/files/block-reader.ts', FILES, [
    [
      'isolation.damaged-block',
      'What hangs on a damaged block is kept.',
      `if (!isNamedBy(cid, bytes)) throw`,
      `if (cid === undefined) throw`,
    ],
  ]),
  ...mutantsOf('src/files/block-directory.ts', FILES, [
    [
      'isolation.stuck-block',
      'A block that cannot be removed keeps no other from being collected.',
      `.catch((error: unknown) => onError(join(shard.name, blockOf(file)), error))`,
      ``,
    ],
    [
      'isolation.left-aside',
      'A block that a killed collection left aside is not taken for missing.',
      `if (!file.endsWith(aside)) return`,
      `if (file !== aside) return`,
    ],
    [
      'isolation.written-anew',
      'What lies aside takes no place of a block that was written anew.',
      `    await link(moved, path)`,
      `    await rename(moved, path)`,
    ],
    [
      'isolation.aside',
      'A collection that stood still removes no block that another one has moved aside since.',
      `\`\${path}.\${randomUUID()}\${aside}\``,
      `\`\${path}\${aside}\``,
      ['files/frozen-collection.test.ts'],
    ],
  ]),
  ...mutantsOf('src/files/s3-sweep.ts', S3, [
    [
      'isolation.bucket-look',
      'A block in a bucket that was renewed since it was listed stays.',
      `seen.changedAt >= before || `,
      ``,
    ],
    ['isolation.bucket-turn', 'One collection at a time removes from a bucket.', `(await read()) !== FREE`, `false`],
    [
      'frozen.bucket-turn',
      'A collection of a bucket that stood still after it saw its turn removes nothing.',
      ` || seen.now - turnAt > PROMPT_MS`,
      ``,
    ],
  ]),
  ...mutantsOf('src/files/s3-bucket.ts', S3, [
    [
      'frozen.bucket-removal',
      'A removal from a bucket that comes long after the look is refused.',
      `expiresIn: REMOVAL_SECONDS`,
      `expiresIn: 900`,
    ],
    ['isolation.bucket-away', 'A bucket that is missing is no missing file.', `name !== 'NoSuchBucket'`, `true`],
    [
      'isolation.bucket-full',
      'A storage that is full is told as one that has no room.',
      `status === 507 || NO_ROOM.test(told.message)`,
      `status === 0`,
    ],
  ]),
  ...mutantsOf('src/files/s3-store.ts', S3, [
    [
      'isolation.bucket-renewal',
      'Whoever renews an old block while a collection removes looks whether it stayed.',
      `      await placing.settle()
      // Somebody`,
      `      // Somebody`,
    ],
    [
      'isolation.bucket-others',
      'What others keep in a bucket is not removed.',
      `/^[A-Z2-7]{2}\\/[A-Z2-7]+\\.data$/`,
      `/\\.data$/`,
    ],
    [
      'isolation.bucket-owner',
      'A collection removes nothing from the bucket of another installation.',
      `      if (owner !== undefined) await claimBucket(bucket, owner)\n`,
      ``,
    ],
    [
      'isolation.bucket-bytes',
      'Bytes that a block’s name does not promise are never given out as its file.',
      `if (isNamedBy(cid, bytes)) return bytes`,
      `return bytes`,
    ],
  ]),
  ...mutantsOf('src/files/s3-owner.ts', S3, [
    [
      'isolation.bucket-claim',
      'Who used a bucket first has it.',
      `if (found === owner) return`,
      `if (found !== undefined) return`,
    ],
  ]),
  ...mutantsOf('src/files/kubo-store.ts', KUBO, [
    [
      'isolation.stuck-pin',
      'A pin that cannot be removed keeps no other from being collected.',
      `            told.onError(cid, error)`,
      `            throw error`,
    ],
    [
      'isolation.away',
      'While Kubo is away no pin is blamed for it.',
      `if (!(await isReachable())) throw error`,
      `if (url === '') throw error`,
    ],
    [
      'isolation.refused-upload',
      'What Kubo refuses is closed.',
      `void pieces.return().catch(() => undefined)`,
      `void pieces`,
    ],
    [
      'frozen.pin',
      'A pin that was removed long after the look at it is put back.',
      `took >= 0 && took <= swift && `,
      ``,
    ],
    [
      'isolation.claimed-pin',
      'A pin that was removed while another process registered its file is put back.',
      ` && !(await isPinned(cid))`,
      ``,
    ],
    [
      'isolation.unpinned-document',
      'A document is pinned by the request that puts it.',
      `Math.max(bytes.byteLength, 1)}\`, pin: true,`,
      `Math.max(bytes.byteLength, 1)}\`, pin: false,`,
    ],
  ]),
  ...mutantsOf('src/files/kubo-store.ts', NODES, [
    [
      'isolation.node-restored',
      'A Kubo node is given what it lacks of what is needed.',
      `.then((found) => (found ? undefined : restore?.(cid)))`,
      ``,
    ],
  ]),
  ...mutantsOf('src/files/replicated-store.ts', NODES, [
    [
      'isolation.too-few-copies',
      'What fewer nodes took than are wanted is refused.',
      `if (taken.length < copies)`,
      `if (taken.length === 0)`,
    ],
    [
      'isolation.node-may-have-it',
      'A file is missing only when every node says so.',
      `errors.find(isFull) ?? errors.find(isUnavailable) ?? errors[0]`,
      `errors.find(isFull) ?? errors[0]`,
    ],
    [
      'isolation.read-goes-on',
      'A read that breaks off goes on with the next node where it was.',
      `offset: (range?.offset ?? 0) + done`,
      `offset: range?.offset ?? 0`,
    ],
    [
      'isolation.node-away',
      'A collection goes on without a node that is away.',
      `          if (!isUnavailable(error)) throw error\n          health`,
      `          throw error\n          health`,
    ],
    [
      'isolation.hanging-node',
      'A node that hung is not waited for again.',
      `awake.length >= copies ? awake : [...awake, ...resting]`,
      `[...awake, ...resting]`,
    ],
  ]),
  ...mutantsOf('src/domain/sweep/sweeper.ts', STUCK, [
    [
      'isolation.round-shown',
      'What a round could not deal with is shown.',
      `      await noteAll()\n      const items`,
      `      const items`,
    ],
    [
      'isolation.round-forgotten',
      'What a round can deal with again is not shown any more.',
      `if (isShared) await database.query(forgetOtherSetbacks, { sweep: name, items })`,
      `if (isShared) await Promise.resolve()`,
    ],
  ]),
  ...mutantsOf('src/platform/http/upload-folder.ts', STUCK, [
    [
      'isolation.stuck-upload',
      'An upload that cannot be removed keeps no other from it.',
      `.catch((error: unknown) => onError(name, error))`,
      ``,
    ],
  ]),
  ...mutantsOf('src/platform/jobs/redact-dead-letters.ts', MAILS, [
    [
      'isolation.letters-portions',
      'Dead letters are redacted in portions.',
      `const PORTION = 500`,
      `const PORTION = 500_000`,
    ],
    [
      'isolation.letters-others',
      'A dead letter that cannot be redacted keeps no other from it.',
      `      if (!isOfRows(error)) throw error\n`,
      `      throw error\n`,
    ],
  ]),
  ...mutantsOf('src/domain/account/deletion-service.ts', MAILS, [
    [
      'isolation.letters-of-deleted',
      'The addresses of dead letters go with the account.',
      `    await database.query(forgetLetters, { user: userId })\n`,
      ``,
    ],
  ]),
  ...mutantsOf('src/domain/asset/erasure-statements.ts', TESTS, [
    [
      'isolation.unsettled',
      'A commit of a deleted asset keeps its tree until it is settled on the chain.',
      `filter (where settled is not true)`,
      `filter (where false)`,
    ],
  ]),
]
