-- AlterTable
ALTER TABLE "webhook_deliveries" ALTER COLUMN "order_id" DROP NOT NULL;
