/** For Prisma's own commands: `prisma generate` by npm run generate:prisma, `prisma migrate deploy` and `status` by who likes them. */
const url = process.env.DATABASE_URL

// What `defineConfig` of prisma/config would return, without the package: it is not installed here.
export default {
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  ...(url ? { datasource: { url } } : {}),
}
