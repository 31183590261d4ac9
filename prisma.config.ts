import { defineConfig } from 'prisma/config'

const url = process.env.DATABASE_URL

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  // Only Prisma's own commands need it, such as `prisma migrate deploy`; `prisma generate` must work without.
  ...(url ? { datasource: { url } } : {}),
})
