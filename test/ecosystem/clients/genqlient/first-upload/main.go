package main

import (
	"context"
	"fmt"
	"log"
	"strings"
	"time"

	"annal-client/annal"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	username := fmt.Sprintf("ada-%d", time.Now().UnixMilli())
	email, password := username+"@example.org", "correct horse battery"
	nobody := annal.Sender{}.NewClient()
	if _, err := annal.SignUp(ctx, nobody, &annal.SignUpInput{Username: username, Email: email, Password: password}); err != nil {
		return err
	}
	session, err := annal.SignIn(ctx, nobody, &annal.SignInInput{Email: email, Password: password})
	if err != nil {
		return err
	}
	client := annal.Sender{Token: session.SignIn.Token}.NewClient()

	quote, err := annal.Quote(ctx, client, &annal.QuoteInput{RegisterAsset: &annal.QuoteRegisterAssetInput{}})
	if err != nil {
		return err
	}
	fmt.Printf("Costs %s of %s\n", quote.Quote.GetTotal(), quote.Quote.GetAvailable())

	// #region upload
	caption := "Hello"
	file := strings.NewReader("Hello, Annal, from " + username + ".")
	withFile := annal.WithFile(ctx, "variables.input.assetFile", "hello.txt", file)
	registered, err := annal.Register(withFile, client, &annal.RegisterAssetInput{Caption: &caption})
	if err != nil {
		return err
	}
	// #endregion
	asset := registered.RegisterAsset.Asset
	fmt.Printf("Registered %s: %s\n", asset.Id, asset.AssetFileUrl)
	return nil
}
