package life;

import annal.ApiClient;
import annal.ApiException;
import annal.api.AccountApi;
import annal.api.AssetsApi;
import annal.api.FilesApi;
import annal.api.OrdersApi;
import annal.api.QuotesApi;
import annal.api.SessionsApi;
import annal.model.Asset;
import annal.model.ConfirmOrder;
import annal.model.CreateOrder;
import annal.model.History;
import annal.model.Order;
import annal.model.Quote;
import annal.model.RevertAsset;
import annal.model.SignIn;
import annal.model.SignUp;
import annal.model.UpdateAsset;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;

/** Signs up, registers a file, changes it, reads its history, buys an action and leaves, with the generated client. */
public final class Life {
  private final ApiClient client;

  private Life(ApiClient client) {
    this.client = client;
  }

  public static void main(String[] args) throws ApiException, IOException {
    new Life(signUp("ada-" + System.currentTimeMillis())).run();
    System.exit(0);
  }

  private static void expect(Object got, Object want) {
    if (!Objects.equals(got, want)) throw new AssertionError("got " + got + ", want " + want);
  }

  private static ApiClient newClient() {
    return new ApiClient().setBasePath(System.getenv().getOrDefault("ANNAL_URL", "http://localhost:4000"));
  }

  private static ApiClient signUp(String username) throws ApiException {
    ApiClient client = newClient();
    String email = username + "@example.org";
    String password = "correct horse battery";
    SignUp account = new SignUp().username(username).email(email).password(password);
    expect(new AccountApi(client).signUp(account).execute().getUsername(), username);
    SignIn credentials = new SignIn().email(email).password(password);
    client.setBearerToken(new SessionsApi(client).signIn(credentials).execute().getAuthToken());
    client.setApiKey(System.getenv("ANNAL_API_KEY"));
    return client;
  }

  private void run() throws ApiException, IOException {
    AssetsApi assets = new AssetsApi(client);
    AccountApi account = new AccountApi(client);
    String nid = register(assets, "Hello, Annal, " + UUID.randomUUID());
    update(assets, nid);
    buy(new OrdersApi(client));
    try {
      assets.getAsset("bafkreiaaaa").execute();
      throw new AssertionError("It was found.");
    } catch (ApiException refused) {
      expect(refused.getCode(), 404);
    }
    expect(account.getMe().execute().getAssetCount(), 1);
    assets.deleteAsset(nid).execute();
    account.deleteMe().execute();
  }

  private String register(AssetsApi assets, String text) throws ApiException, IOException {
    File file = File.createTempFile("hello", ".txt");
    try {
      Files.writeString(file.toPath(), text);
      Quote quote = new QuotesApi(client).quoteRegisterAsset().assetFile(file).publicAccess(true).execute();
      expect(quote.getTotalCost(), "0.179");
      expect(quote.getErrors(), List.of());
      String custom = "{\"license\":{\"name\":\"CC0-1.0\"}}";
      Asset asset =
          assets.registerAsset(file).caption("Hello").publicAccess(true).nitCommitCustom(custom).execute();
      expect(asset.getAssetFileName(), file.getName());
      expect(asset.getPublicAccess(), true);
      expect(asset.getNitCommitCustom(), Map.of("license", Map.of("name", "CC0-1.0")));
      File content = new FilesApi(client).getFile(asset.getId()).execute();
      expect(Files.readString(content.toPath()), text);
      content.delete();
      return asset.getId();
    } finally {
      file.delete();
    }
  }

  private void update(AssetsApi assets, String nid) throws ApiException {
    UpdateAsset change =
        new UpdateAsset()
            .caption("Hello again")
            .publicAccess(false)
            .putNitCommitCustomItem("license", Map.of("name", "CC-BY-4.0"));
    expect(new QuotesApi(client).quoteUpdateAsset(nid).updateAsset(change).execute().getTotalCost(), "0.179");
    String key = UUID.randomUUID().toString();
    Asset changed = assets.updateAsset(nid).updateAsset(change).idempotencyKey(key).execute();
    expect(changed.getCaption(), "Hello again");
    expect(changed.getPublicAccess(), false);
    History history = assets.getAssetHistory(nid).execute();
    expect(history.getCount(), 2);
    expect(history.getCommits().size(), 2);
    RevertAsset first = new RevertAsset().revertTo(history.getCommits().get(0).getId());
    expect(assets.revertAsset(nid, first).execute().getCaption(), "Hello");
  }

  private void buy(OrdersApi orders) throws ApiException {
    QuotesApi quotes = new QuotesApi(client);
    CreateOrder wanted = new CreateOrder().networkApp("upscale").putActionArgsItem("factor", 2);
    expect(quotes.quoteCreateOrder(wanted).execute().getTotalCost(), "1.5");
    Order order = orders.createOrder(wanted).execute();
    expect(order.getStatus(), Order.StatusEnum.CREATED);
    expect(quotes.quoteConfirmOrder(order.getId()).execute().getPointsCharged(), "1.5");
    Order paid = orders.confirmOrder(order.getId()).execute();
    expect(paid.getStatus(), Order.StatusEnum.SUCCESS);
    expect(paid.getPointsPaid(), "1.5");
    expect(orders.confirmOrder(order.getId()).confirmOrder(new ConfirmOrder()).execute().getPointsPaid(), "1.5");
    String other = orders.createOrder(wanted).execute().getId();
    expect(orders.cancelOrder(other).execute().getId(), other);
  }
}
