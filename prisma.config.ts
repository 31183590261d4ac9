/** Settings of the Prisma command line: `prisma generate` at install, `prisma migrate deploy` and `status` for operators who prefer them. */
const url = process.env.DATABASE_URL

// Equal to `defineConfig` of prisma/config, without the import: production does not install Prisma.
export default {
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  ...(url ? { datasource: { url } } : {}),
}
